import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { equalSecrets, keyedDigest } from '../../crypto/secret.ts';
import type { Account, AccountStore } from '../../storage/accounts.ts';
import { cookieName } from '../cookie-name.ts';
import { browserFamily, type SessionBrowser, sessionTtl } from '../engine/session-browser.ts';

/** Stands in front of the key in the address of an account page; no page has a name that begins with it. */
export const pageKeyMark = '~';

/** A login in a browser, as the engine keeps it. */
export type LoginSession = Awaited<ReturnType<Provider['Session']['get']>> & SessionBrowser;

/** Somebody who is logged in in the browser that asks. */
export interface LoggedIn {
  session: LoginSession;
  account: Account;
  /** URL of the account pages of this login, without a slash at its end. */
  url: string;
}

/** A new login. */
export interface NewLogin {
  accountId: string;
  /** Authentication methods of the login (RFC 8176). */
  amr: string[];
  /** Time of the login, epoch seconds; now if it is left out. */
  loginTs?: number | undefined;
  /**
   * Time of the last authentication for the account pages, epoch seconds; undefined for a login that proves nothing
   * fresh.
   */
  provedAt: number | undefined;
  /** The upstream login that this login depends on. */
  acr?: string | undefined;
}

/** Parts of the logins in browsers. */
export interface OwnSessionOptions {
  provider: Provider;
  accounts: AccountStore;
  lifetimes: Parameters<typeof sessionTtl>[0];
  /** Issuer identifier; its scheme decides whether cookies go over https alone. */
  issuer: string;
  /** Cookie keys of the installation. */
  cookieKeys: readonly string[];
  /**
   * True if servers at other ports of the host get our cookies: a cookie then counts only with the key of its pages.
   */
  portsShareCookies: boolean;
  /** Epoch seconds. */
  now: () => number;
}

/** The login of the browser that asks, for pages that stand outside of any authorization request. */
export interface OwnSessions {
  /**
   * Returns who is logged in; undefined if nobody is, or the account was removed or disabled.
   * @param pageKey the key in the address of the page, if there is one
   */
  find(ctx: Context, pageKey: string | undefined): Promise<LoggedIn | undefined>;
  /** Returns who is logged in, for a request that something else than a page of theirs proves: the state of an upstream. */
  findBesidePages(ctx: Context): Promise<LoggedIn | undefined>;
  /**
   * Logs an account in. The session gets a new id, and the previous id is invalid (T-119). Another account that was
   * logged in here is logged out.
   * @returns URL of the account pages of this login
   */
  start(ctx: Context, login: NewLogin): Promise<string>;
  /** Logs the browser out. */
  end(ctx: Context): Promise<void>;
  /**
   * Deletes the cookie of the account pages, if they have a cookie that the engine does not know. The cookie alone does
   * not end a login.
   */
  forget(ctx: Context): void;
}

/**
 * Creates the access to the login sessions of the account pages. What is written goes into the request's write set. If
 * servers on other ports of the host get our cookies, the session has a cookie of its own, which the engine never
 * reads, and counts only on pages whose address has its key: browsers send no address of ours anywhere (T-208).
 */
export function createOwnSessions(options: OwnSessionOptions): OwnSessions {
  const { provider, accounts, lifetimes, issuer, cookieKeys, portsShareCookies, now } = options;
  const cookie = portsShareCookies ? cookieName(issuer, 'account', 'host') : provider.cookieName('session');
  const secure = issuer.startsWith('https:');
  const attributes = { httpOnly: true, sameSite: 'lax', secure, path: '/', signed: true } as const;
  const pagesUrl = `${issuer}/account`;

  async function present(ctx: Context): Promise<LoginSession> {
    if (!portsShareCookies) return provider.Session.get(ctx);
    const id = ctx.cookies.get(cookie, { signed: true });
    return (id ? await provider.Session.find(id) : undefined) ?? new provider.Session();
  }

  const pageKeys = ({ jti }: LoginSession): string[] =>
    cookieKeys.map((key) => keyedDigest(key, 'account pages', jti));

  const urlOf = (session: LoginSession): string =>
    portsShareCookies ? `${pagesUrl}/${pageKeyMark}${pageKeys(session)[0]}` : pagesUrl;

  async function read(session: LoginSession): Promise<LoggedIn | undefined> {
    if (session.accountId === undefined) return undefined;
    const account = await accounts.find(session.accountId);
    if (!account || account.disabledAt !== undefined) return undefined;
    return { session, account, url: urlOf(session) };
  }

  async function presentFor(ctx: Context, accountId: string): Promise<LoginSession> {
    const session = await present(ctx);
    const stillStands = session.exp !== undefined;
    if (stillStands && session.accountId === accountId) {
      session.resetIdentifier();
      return session;
    }
    if (stillStands) await session.destroy();
    return new provider.Session();
  }

  return {
    async find(ctx, pageKey = '') {
      const session = await present(ctx);
      const isOwnPage = !portsShareCookies || pageKeys(session).some((key) => equalSecrets(pageKey, key));
      return isOwnPage ? read(session) : undefined;
    },
    findBesidePages: async (ctx) => read(await present(ctx)),
    async start(ctx, { accountId, amr, loginTs = now(), provedAt, acr }) {
      const session = await presentFor(ctx, accountId);
      session.loginAccount({ accountId, loginTs, amr, ...(acr === undefined ? undefined : { acr }) });
      session.browser = browserFamily(ctx.get('user-agent'));
      session.provedAt = provedAt;
      const seconds = sessionTtl(lifetimes, loginTs, now());
      await session.save(seconds);
      ctx.cookies.set(cookie, session.jti, { ...attributes, expires: new Date((now() + seconds) * 1000) });
      return urlOf(session);
    },
    async end(ctx) {
      const session = await present(ctx);
      if (session.exp !== undefined) await session.destroy();
      ctx.cookies.set(cookie, null, attributes);
    },
    forget(ctx) {
      if (portsShareCookies) ctx.cookies.set(cookie, null, attributes);
    },
  };
}
