import type { Context } from 'koa';
import { randomSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { cookieName } from '../cookie-name.ts';
import { answerWithErrorPage } from '../endpoints/error-page.ts';
import { commitWrites } from '../engine/write-set.ts';
import {
  answerRefusedForm,
  createCsrfCheck,
  csrfToken,
  FormRefused,
  readForm,
  refuseOtherMethods,
} from '../interactions/form.ts';
import { textsFor } from '../texts/page-texts.ts';
import { type AccountRequest, PageMissing, type PersonalRequest, redirectToPage } from './account-request.ts';
import { type ActivityPageOptions, showActivity } from './activity-page.ts';
import {
  type CodesPageOptions,
  renewRecoveryCodes,
  showCodes,
  showFreshCodes,
  turnCodesOff,
  turnCodesOn,
} from './codes-page.ts';
import {
  type CredentialsPageOptions,
  enterCredential,
  removeCredential,
  showCredentials,
  showRouteCredentials,
} from './credentials-page.ts';
import {
  type AccountLoginOptions,
  type LoginRequest,
  loginPage,
  showAccountLogin,
  submitAccountLogin,
  submitUpstreamLogin,
} from './login-page.ts';
import {
  endApp,
  endBrowser,
  endConnection,
  endOtherBrowsers,
  type OverviewOptions,
  showOverview,
} from './overview-page.ts';
import { type OwnSessions, pageKeyMark } from './own-session.ts';
import {
  addPasskey,
  type PasskeysPageOptions,
  removePasskey,
  renamePasskey,
  showPasskeyRemoval,
  showPasskeyRenaming,
  showPasskeys,
} from './passkeys-page.ts';
import {
  type PasswordPageOptions,
  type ResetPageOptions,
  showPasswordChange,
  showReset,
  submitPasswordChange,
  submitReset,
} from './password-page.ts';
import {
  beginUpstreamLink,
  showUpstreamLink,
  showUpstreams,
  showUpstreamUnlink,
  type UpstreamsPageOptions,
  unlinkUpstream,
} from './upstreams-page.ts';

/** Options of the account pages. */
export interface AccountPagesOptions {
  artifacts: ArtifactStore;
  sessions: OwnSessions;
  login: AccountLoginOptions;
  overview: OverviewOptions;
  activity: ActivityPageOptions;
  password: PasswordPageOptions;
  reset: ResetPageOptions;
  passkeys: PasskeysPageOptions;
  codes: CodesPageOptions;
  upstreams: UpstreamsPageOptions;
  credentials: CredentialsPageOptions;
  /** URL of the account pages, without a slash at its end. */
  url: string;
  /** Cookie keys of the installation. */
  csrfKeys: readonly string[];
  /** Epoch seconds. */
  now: () => number;
}

type Run<R> = (request: R, options: AccountPagesOptions) => Promise<void> | void;

/** A page: who may open it, and what a GET and a POST do. */
type Page =
  | { for: 'anybody'; get?: Run<LoginRequest>; post?: Run<LoginRequest> }
  /** `recent`: somebody who has shown who they are within the last minutes. */
  | { for: 'person' | 'recent'; get?: Run<PersonalRequest>; post?: Run<PersonalRequest> };

/** Every account page, by its path below `/account`; `:name` stands for the name of an upstream, or of an MCP server. */
const pages: Readonly<Record<string, Page>> = {
  '': { for: 'person', get: (request, { overview }) => showOverview(request, overview) },
  login: {
    for: 'anybody',
    get: (request, { login }) => showAccountLogin(request, login),
    post: (request, { login }) => submitAccountLogin(request, login, 'byPassword'),
  },
  code: { for: 'anybody', post: (request, { login }) => submitAccountLogin(request, login, 'byCode') },
  passkey: { for: 'anybody', post: (request, { login }) => submitAccountLogin(request, login, 'byPasskey') },
  logout: { for: 'person', post: logOut },
  activity: { for: 'person', get: (request, { activity }) => showActivity(request, activity) },
  apps: { for: 'person', post: (request, { overview }) => endApp(request, overview) },
  connections: { for: 'person', post: (request, { overview }) => endConnection(request, overview) },
  browsers: { for: 'person', post: (request, { overview }) => endBrowser(request, overview) },
  'browsers/others': { for: 'person', post: (request, { overview }) => endOtherBrowsers(request, overview) },
  password: {
    for: 'person',
    get: (request) => showPasswordChange(request),
    post: (request, { password }) => submitPasswordChange(request, password),
  },
  passkeys: {
    for: 'recent',
    get: (request, { passkeys }) => showPasskeys(request, passkeys),
    post: (request, { passkeys }) => addPasskey(request, passkeys),
  },
  'passkeys/rename': {
    for: 'recent',
    get: (request, { passkeys }) => showPasskeyRenaming(request, passkeys),
    post: (request, { passkeys }) => renamePasskey(request, passkeys),
  },
  'passkeys/remove': {
    for: 'recent',
    get: (request, { passkeys }) => showPasskeyRemoval(request, passkeys),
    post: (request, { passkeys }) => removePasskey(request, passkeys),
  },
  codes: {
    for: 'recent',
    get: (request, { codes }) => showCodes(request, codes),
    post: (request, { codes }) => turnCodesOn(request, codes),
  },
  'codes/off': { for: 'recent', post: (request, { codes }) => turnCodesOff(request, codes) },
  'codes/recovery': { for: 'recent', post: (request, { codes }) => renewRecoveryCodes(request, codes) },
  // Only the login that made them, minutes ago, can open it.
  'codes/new': { for: 'person', get: (request, { codes }) => showFreshCodes(request, codes) },
  upstream: { for: 'anybody', post: (request, { login }) => submitUpstreamLogin(request, login) },
  upstreams: { for: 'person', get: (request, { upstreams }) => showUpstreams(request, upstreams) },
  'upstreams/:name/link': {
    for: 'recent',
    get: (request, { upstreams }) => showUpstreamLink(request, upstreams),
    post: (request, { upstreams }) => beginUpstreamLink(request, upstreams),
  },
  'upstreams/:name/unlink': {
    for: 'recent',
    get: (request, { upstreams }) => showUpstreamUnlink(request, upstreams),
    post: (request, { upstreams }) => unlinkUpstream(request, upstreams),
  },
  credentials: { for: 'person', get: (request, { credentials }) => showCredentials(request, credentials) },
  'credentials/:name': {
    for: 'recent',
    get: (request, { credentials }) => showRouteCredentials(request, credentials),
    post: (request, { credentials }) => enterCredential(request, credentials),
  },
  'credentials/:name/remove': {
    for: 'recent',
    post: (request, { credentials }) => removeCredential(request, credentials),
  },
  reset: {
    for: 'anybody',
    get: (request, { reset }) => showReset(request, reset),
    post: (request, { reset }) => submitReset(request, reset),
  },
};

/** A path below `/account`, apart from the key in front of it. */
interface PagePath {
  path: string;
  pageKey: string | undefined;
}

/** Splits off the key with which the pages of a login begin; see `own-session.ts`. */
function splitPath(path: string): PagePath {
  if (!path.startsWith(pageKeyMark)) return { path, pageKey: undefined };
  const [first = '', ...rest] = path.split('/');
  return { path: rest.join('/'), pageKey: first.slice(pageKeyMark.length) };
}

/** Parts of a path that name an upstream or an MCP server. */
type Named = Pick<PersonalRequest, 'name' | 'mark'>;

/**
 * Paths that name an upstream or an MCP server, with the mark of the intended account if a call asked for one: folder,
 * name, step, mark.
 */
const namedPaths = [
  /^(upstreams)\/([a-z0-9-]{1,32})\/(link|unlink)(?:(?<=\/link)\/([0-9a-f]{16}))?$/,
  /^(credentials)\/([a-z0-9-]{1,32})(?:\/(remove)|\/([0-9a-f]{16}))?$/,
];

/** The page of a path, with what the path names. */
function findPage(path: string): { page: Page; named: Named } | undefined {
  const found = namedPaths.map((named) => named.exec(path)).find((match) => match !== null);
  const [, folder, name, step, mark] = found ?? [];
  const key = found ? [folder, ':name', step].filter(Boolean).join('/') : path;
  const page = Object.hasOwn(pages, key) ? pages[key] : undefined;
  return page && { page, named: { name, mark } };
}

/**
 * Maximum age of the user's authentication on the account pages, in seconds, for changes of the login methods (ASVS 5.0
 * 7.5.1; T-209). A login for an app does not count.
 */
const recentSeconds = 300;

async function logOut(request: PersonalRequest, { sessions, overview }: AccountPagesOptions): Promise<void> {
  await sessions.end(request.ctx);
  overview.audit('login.ended', request.ctx, { accountId: request.who.account.id });
  redirectToPage(request, 'login');
}

/**
 * Creates the handler of the account pages.
 * @returns a function of the context and the path below `/account`, without its first slash
 */
export function createAccountPages(
  options: AccountPagesOptions,
): (ctx: Context, path: string) => Promise<void> {
  const { artifacts, sessions, url, csrfKeys, now } = options;
  const { origin, pathname, protocol } = new URL(url);
  const secure = protocol === 'https:';
  const visitorCookie = cookieName(url, 'visitor', 'path');

  /** The name of a browser in which nobody is logged in: ties forms to it. */
  function visitorOf(ctx: Context): string {
    const known = ctx.cookies.get(visitorCookie, { signed: true });
    if (known) return known;
    const visitor = randomSecret();
    ctx.cookies.set(visitorCookie, visitor, {
      httpOnly: true,
      sameSite: 'lax',
      secure,
      path: pathname,
      signed: true,
    });
    return visitor;
  }

  async function prepare(ctx: Context, pagesUrl: string, csrfFor: [string, string]): Promise<AccountRequest> {
    const form =
      ctx.method === 'POST'
        ? await readForm(ctx, origin, createCsrfCheck(csrfKeys, ...csrfFor))
        : new URLSearchParams();
    return { ctx, texts: textsFor(ctx), url: pagesUrl, csrf: csrfToken(csrfKeys, ...csrfFor), form };
  }

  async function serve(ctx: Context, { path, pageKey }: PagePath, page: Page, named: Named): Promise<void> {
    const who = await sessions.find(ctx, pageKey);
    const pagesUrl = who?.url ?? url;
    ctx.state.accountUrl = pagesUrl;
    const isPost = ctx.method === 'POST';
    if (page.for === 'anybody') {
      const visitor = visitorOf(ctx);
      const request = { ...(await prepare(ctx, pagesUrl, ['account login', visitor])), visitor, who };
      return (isPost ? page.post : page.get)?.(request, options);
    }
    if (!who) return redirectToPage({ ctx, url }, loginPage(path));
    const isRecent = now() - (who.session.provedAt ?? 0) <= recentSeconds;
    if (page.for === 'recent' && !isRecent) return redirectToPage({ ctx, url: pagesUrl }, loginPage(path));
    const request = { ...(await prepare(ctx, pagesUrl, ['account', who.session.uid])), who, ...named };
    return (isPost ? page.post : page.get)?.(request, options);
  }

  return async (ctx, wholePath) => {
    ctx.set('Cache-Control', 'no-store');
    const place = splitPath(wholePath);
    const found = findPage(place.path);
    if (!found) return answerWithErrorPage(ctx, 404, { code: 'not_found' }, { account: url });
    const { page, named } = found;
    const allowed = [...(page.get ? ['GET', 'HEAD'] : []), ...(page.post ? ['POST'] : [])];
    if (refuseOtherMethods(ctx, allowed, url)) return;
    try {
      const { result } = await commitWrites(artifacts, async () => {
        await serve(ctx, place, page, named);
        return true;
      });
      if (result.committed) return;
      // The session, the account or the challenge ended meanwhile: nothing was done, and a login tells why.
      ctx.remove('Set-Cookie');
      redirectToPage({ ctx, url }, 'login');
    } catch (error) {
      const account = String(ctx.state.accountUrl ?? url);
      if (error instanceof PageMissing)
        return answerWithErrorPage(ctx, 404, { code: 'not_found' }, { explanation: 'account_gone', account });
      if (!(error instanceof FormRefused)) throw error;
      answerRefusedForm(ctx, error, account);
    }
  };
}
