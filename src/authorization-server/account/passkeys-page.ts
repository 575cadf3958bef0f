import type { PasskeyStore, StoredPasskey } from '../../storage/accounts.ts';
import type { AuditLog } from '../audit.ts';
import type { Passkeys } from '../authentication/passkeys.ts';
import { browserFamily } from '../engine/session-browser.ts';
import { showPage } from '../interactions/page.ts';
import { renderPasskeyRemoval, renderPasskeyRenaming, renderPasskeys } from '../views/account/passkeys.ts';
import { maxPasskeyName, passkeyScriptSource } from '../views/passkey-form.ts';
import { PageMissing, type PersonalRequest, redirectToPage } from './account-request.ts';
import { type LinkedUpstreams, unlessLastWayIn } from './linked-upstreams.ts';

/** Options of the page of passkeys. */
export interface PasskeysPageOptions {
  passkeys: Passkeys;
  store: PasskeyStore;
  linked: Pick<LinkedUpstreams, 'waysIn'>;
  audit: AuditLog;
}

function bindingOf({ who }: PersonalRequest): string {
  return `registration ${who.session.uid}`;
}

/** The name in a form, as far as it is kept; empty for none. */
function nameIn({ form }: PersonalRequest): string {
  return (form.get('name') ?? '').trim().slice(0, maxPasskeyName);
}

/** A name that tells a new passkey from the others: the browser it is made in, with a number if one has that name. */
function suggestName({ ctx, texts }: PersonalRequest, passkeys: readonly StoredPasskey[]): string {
  const family = browserFamily(ctx.get('user-agent'));
  const first = family
    ? texts.account.browsers.name(family.name, family.system)
    : texts.account.passkeys.suggestedName;
  const isFree = (name: string): boolean => !passkeys.some((passkey) => passkey.name === name);
  let name = first;
  for (let number = 2; !isFree(name); number++) name = `${first} ${number}`;
  return name;
}

/**
 * The passkey of the person that a page is about.
 * @throws PageMissing if it is not one of theirs
 */
async function requireOwn(
  { ctx, who }: PersonalRequest,
  { store }: PasskeysPageOptions,
): Promise<StoredPasskey> {
  const passkey = (await store.listOf(who.account.id)).find(({ id }) => id === ctx.query.id);
  if (!passkey) throw new PageMissing();
  return passkey;
}

/** Shows the passkeys of the person, and the form for another. */
export async function showPasskeys(
  request: PersonalRequest,
  { passkeys, store }: PasskeysPageOptions,
  problem?: string,
): Promise<void> {
  const { ctx, texts, url, csrf, who } = request;
  const options = passkeys.isOffered
    ? await passkeys.registrationOptions(who.account, bindingOf(request))
    : undefined;
  const kept = await store.listOf(who.account.id);
  const registration = options === undefined ? undefined : { options, name: suggestName(request, kept) };
  const page = renderPasskeys(texts, { url, csrf, problem, registration, passkeys: kept });
  showPage(ctx, page, passkeyScriptSource);
}

/** Registers a passkey. */
export async function addPasskey(request: PersonalRequest, options: PasskeysPageOptions): Promise<void> {
  const { ctx, texts, form, who } = request;
  const name = nameIn(request) || suggestName(request, await options.store.listOf(who.account.id));
  const response = form.get('credential') ?? '';
  const added = await options.passkeys.register(who.account, name, response, bindingOf(request));
  if (added !== true) {
    ctx.status = 400;
    const { taken, refused } = texts.account.passkeys;
    return showPasskeys(request, options, added === 'taken' ? taken : refused);
  }
  options.audit('account.passkey_added', ctx, { accountId: who.account.id });
  redirectToPage(request, 'passkeys');
}

/**
 * Asks for another name of a passkey.
 * @throws PageMissing if it is not one of the person's
 */
export async function showPasskeyRenaming(
  request: PersonalRequest,
  options: PasskeysPageOptions,
): Promise<void> {
  const { ctx, texts, url, csrf } = request;
  const passkey = await requireOwn(request, options);
  showPage(ctx, renderPasskeyRenaming(texts, { url, csrf, passkey }));
}

/**
 * Renames a passkey; without a name it keeps its own.
 * @throws PageMissing if it is not one of the person's
 */
export async function renamePasskey(
  request: PersonalRequest,
  { store, audit }: PasskeysPageOptions,
): Promise<void> {
  const { ctx, form, who } = request;
  const accountId = who.account.id;
  const name = nameIn(request);
  if (name !== '') {
    if (!(await store.rename(accountId, form.get('id') ?? '', name))) throw new PageMissing();
    audit('account.passkey_renamed', ctx, { accountId });
  }
  redirectToPage(request, 'passkeys');
}

/**
 * Asks whether a passkey is to be removed.
 * @throws PageMissing if it is not one of the person's
 */
export async function showPasskeyRemoval(
  request: PersonalRequest,
  options: PasskeysPageOptions,
): Promise<void> {
  const { ctx, texts, url, csrf } = request;
  const passkey = await requireOwn(request, options);
  showPage(ctx, renderPasskeyRemoval(texts, { url, csrf, passkey }));
}

/**
 * Removes a passkey. Refused if nobody could log in to the account any more.
 * @throws PageMissing if it is not one of the person's
 */
export async function removePasskey(request: PersonalRequest, options: PasskeysPageOptions): Promise<void> {
  const { ctx, texts, form, who } = request;
  const { store, linked, audit } = options;
  const accountId = who.account.id;
  const ways = await linked.waysIn(who.account);
  const wasThere = await unlessLastWayIn(store.remove(accountId, form.get('id') ?? '', ways));
  if (wasThere === 'last way in') {
    ctx.status = 409;
    return showPasskeys(request, options, texts.account.passkeys.onlyWay);
  }
  if (!wasThere) throw new PageMissing();
  audit('account.passkey_removed', ctx, { accountId });
  redirectToPage(request, 'passkeys');
}
