import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { AuthorizationWishes, Upstream, Upstreams } from '../../upstream/upstream.ts';
import type { Vault } from '../../upstream/vault.ts';
import type { AuditLog } from '../audit.ts';
import { showPage } from '../interactions/page.ts';
import { type BeginUpstream, failureOf, isUpstreamFault } from '../upstream-login/begin-upstream.ts';
import type { UpstreamPurpose } from '../upstream-login/purposes.ts';
import {
  renderLinkOfAnother,
  renderUpstreamLink,
  renderUpstreams,
  renderUpstreamUnlink,
} from '../views/account/upstreams.ts';
import {
  type AccountRequest,
  isForAnother,
  PageMissing,
  type PersonalRequest,
  redirectToPage,
} from './account-request.ts';
import { type LinkedUpstreams, unlessLastWayIn } from './linked-upstreams.ts';

/** Options of the pages of accounts elsewhere. */
export interface UpstreamsPageOptions {
  upstreams: Upstreams;
  vault: Pick<Vault, 'open'>;
  links: Pick<UpstreamStore, 'findOfAccount'>;
  linked: LinkedUpstreams;
  beginUpstream: BeginUpstream;
  audit: AuditLog;
}

/** Returns the notice about the last form, for the page that follows it; only names of configured upstreams count. */
function noticeOf({ ctx, texts }: PersonalRequest, { upstreams }: UpstreamsPageOptions): string | undefined {
  const { linkDone, linkDenied, unlinkDone } = texts.account.upstreams;
  const say = (words: (service: string) => string, name: unknown) => upstreamMessage(upstreams, words, name);
  const { linked, denied, unlinked } = ctx.query;
  return say(linkDone, linked) ?? say(linkDenied, denied) ?? say(unlinkDone, unlinked);
}

/**
 * Shows the accounts elsewhere.
 * @throws PageMissing if there are none, and none can be linked
 */
export async function showUpstreams(request: PersonalRequest, options: UpstreamsPageOptions): Promise<void> {
  const { ctx, texts, url, csrf, who } = request;
  const page = await options.linked.list(who.account.id);
  if (page.linked.length + page.others.length === 0) throw new PageMissing();
  showPage(ctx, renderUpstreams(texts, { url, csrf, notice: noticeOf(request, options), ...page }));
}

function requireUpstream({ name = '' }: PersonalRequest, { upstreams }: UpstreamsPageOptions): Upstream {
  const upstream = upstreams.find(name);
  if (!upstream) throw new PageMissing();
  return upstream;
}

/**
 * Shows what will be asked for elsewhere, before anybody goes there (A11-03). Whoever is not the account that a tool was
 * called by gets nothing but that word: the tool would wait for them in vain (C7-04).
 * @throws PageMissing
 */
export async function showUpstreamLink(
  request: PersonalRequest,
  options: UpstreamsPageOptions,
  problem?: string,
): Promise<void> {
  const { ctx, texts, url, csrf, who } = request;
  const upstream = requireUpstream(request, options);
  if (isForAnother(request)) {
    ctx.status = 403;
    return showPage(ctx, renderLinkOfAnother(texts, { url, csrf, upstream }));
  }
  const link = await options.links.findOfAccount(who.account.id, upstream.name);
  const wanted = link?.wantedScopes.split(' ').filter(Boolean) ?? [];
  const scopes = [...new Set([...upstream.scopes, ...wanted])];
  showPage(ctx, renderUpstreamLink(texts, { url, csrf, problem, upstream, scopes }));
}

/**
 * Redirects a user with a fresh login to an upstream, to link the account there (T-089).
 * @throws PageMissing if there is no such upstream
 */
export async function beginUpstreamLink(
  request: PersonalRequest,
  options: UpstreamsPageOptions,
): Promise<void> {
  const { who } = request;
  const upstream = requireUpstream(request, options);
  if (isForAnother(request)) return showUpstreamLink(request, options);
  const { name } = upstream;
  const accountId = who.account.id;
  const link = await options.links.findOfAccount(accountId, name);
  const purpose = {
    purpose: 'link',
    accountId,
    sessionUid: who.session.uid,
    next: `upstreams?linked=${name}`,
  } as const;
  const wishes = {
    scopes: link?.wantedScopes.split(' ').filter(Boolean) ?? [],
    holdsRefreshToken: link !== undefined && options.vault.open(link)?.refreshToken !== undefined,
  };
  const problem = await redirectToUpstream(request, options, upstream, purpose, wishes);
  if (problem !== undefined) await showUpstreamLink(request, options, problem);
}

/**
 * Asks whether an account elsewhere is to be unlinked.
 * @param wasRefused whether that was tried, and would leave nobody a way to log in
 * @throws PageMissing if it is not linked
 */
export async function showUpstreamUnlink(
  request: PersonalRequest,
  { linked }: UpstreamsPageOptions,
  wasRefused = false,
): Promise<void> {
  const { ctx, texts, url, csrf, who, name = '' } = request;
  const upstream = await linked.find(who.account.id, name);
  if (!upstream) throw new PageMissing();
  const isOnlyWay = wasRefused || (await linked.isOnlyWay(who.account, name));
  showPage(ctx, renderUpstreamUnlink(texts, { url, csrf, upstream, isOnlyWay }));
}

/**
 * Unlinks an upstream: all that depends on the link ends at once, and its tokens are revoked. Rejected if no login
 * method would be left.
 * @throws PageMissing if it is not linked
 */
export async function unlinkUpstream(request: PersonalRequest, options: UpstreamsPageOptions): Promise<void> {
  const { ctx, who, name = '' } = request;
  const { linked, audit } = options;
  const wasThere = await unlessLastWayIn(linked.unlink(who.account, name));
  if (wasThere === 'last way in') {
    ctx.status = 409;
    return showUpstreamUnlink(request, options, true);
  }
  if (!wasThere) throw new PageMissing();
  audit('account.unlinked', ctx, { accountId: who.account.id, upstream: name });
  redirectToPage(request, `upstreams?unlinked=${name}`);
}

/** Options of the redirect to an upstream. */
export interface RedirectToUpstreamOptions {
  beginUpstream: BeginUpstream;
  audit: AuditLog;
}

/**
 * Sends somebody from the account pages on to an upstream.
 * @returns what to tell them if that cannot be done; undefined if they are on their way
 */
export async function redirectToUpstream(
  { ctx, texts }: AccountRequest,
  { beginUpstream, audit }: RedirectToUpstreamOptions,
  upstream: Upstream,
  purpose: Exclude<UpstreamPurpose, { purpose: 'authorization' }>,
  wishes: AuthorizationWishes,
): Promise<string | undefined> {
  const { name, label } = upstream;
  try {
    await beginUpstream(ctx, upstream, purpose, wishes);
    return undefined;
  } catch (error) {
    if (!isUpstreamFault(error)) throw error;
    audit('upstream.refused', ctx, {
      ...('accountId' in purpose ? { accountId: purpose.accountId } : undefined),
      upstream: name,
      purpose: purpose.purpose,
      reason: error.reason,
    });
    const isAway = failureOf(error) === 'unavailable';
    ctx.status = isAway ? 503 : 502;
    const words = texts.account.upstreams;
    return isAway ? words.away(label) : words.faulty(label);
  }
}

/**
 * Returns the message for a user who returns from the upstream that a query names; only names of configured upstreams
 * count.
 * @param words takes the label of the upstream
 * @param name value of the query's parameter
 */
export function upstreamMessage(
  upstreams: Upstreams,
  words: (label: string) => string,
  name: unknown,
): string | undefined {
  const upstream = typeof name === 'string' ? upstreams.find(name) : undefined;
  return upstream && words(upstream.label);
}
