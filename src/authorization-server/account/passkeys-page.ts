import type { PasskeyStore } from '../../storage/passkeys.ts';
import type { AuditLog } from '../audit.ts';
import type { Passkeys } from '../authentication/passkeys.ts';
import { showPage } from '../interactions/page.ts';
import { renderPasskeyRemoval, renderPasskeys } from '../views/account/passkeys.ts';
import { passkeyScriptSource } from '../views/passkey-form.ts';
import { goToPage, type PersonalRequest } from './account-request.ts';
import { type LinkedUpstreams, unlessLastWayIn } from './linked-upstreams.ts';
import { PageMissing } from './page-missing.ts';

/** What the page of passkeys works with. */
export interface PasskeysPageOptions {
  passkeys: Passkeys;
  store: PasskeyStore;
  linked: Pick<LinkedUpstreams, 'waysIn'>;
  audit: AuditLog;
}

const maxNameLength = 60;

function bindingOf({ who }: PersonalRequest): string {
  return `registration ${who.session.uid}`;
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
  const page = renderPasskeys(texts, {
    url,
    csrf,
    problem,
    options,
    passkeys: await store.listOf(who.account.id),
  });
  showPage(ctx, page, undefined, passkeyScriptSource);
}

/** Registers a passkey. */
export async function addPasskey(request: PersonalRequest, options: PasskeysPageOptions): Promise<void> {
  const { ctx, texts, form, who } = request;
  const name =
    (form.get('name') ?? '').trim().slice(0, maxNameLength) || texts.account.passkeys.suggestedName;
  const response = form.get('credential') ?? '';
  const added = await options.passkeys.register(who.account, name, response, bindingOf(request));
  if (added !== true) {
    ctx.status = 400;
    const { taken, refused } = texts.account.passkeys;
    return showPasskeys(request, options, added === 'taken' ? taken : refused);
  }
  options.audit('account.passkey_added', ctx, { accountId: who.account.id });
  goToPage(request, 'passkeys');
}

/**
 * Asks whether a passkey is to be removed.
 * @throws PageMissing where it is not one of the person's
 */
export async function showPasskeyRemoval(
  { ctx, texts, url, csrf, who }: PersonalRequest,
  { store }: PasskeysPageOptions,
): Promise<void> {
  const passkey = (await store.listOf(who.account.id)).find(({ id }) => id === ctx.query.id);
  if (!passkey) throw new PageMissing();
  showPage(ctx, renderPasskeyRemoval(texts, { url, csrf, passkey }));
}

/**
 * Removes a passkey. Refused where nobody could log in to the account any more.
 * @throws PageMissing where it is not one of the person's
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
  goToPage(request, 'passkeys');
}
