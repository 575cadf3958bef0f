import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { Account, AccountStore } from '../../storage/accounts.ts';
import { browserFamily } from '../engine/browser-family.ts';
import type { SessionBrowser } from '../engine/session-browser.ts';
import { sessionTtl } from '../engine/session-life.ts';

/** A login in a browser, as the engine keeps it. */
export type LoginSession = Awaited<ReturnType<Provider['Session']['get']>> & SessionBrowser;

/** Somebody who is logged in in the browser that asks. */
export interface LoggedIn {
  session: LoginSession;
  account: Account;
}

/** What logins in browsers are made with. */
export interface OwnSessionOptions {
  provider: Provider;
  accounts: AccountStore;
  lifetimes: Parameters<typeof sessionTtl>[0];
  /** Whether cookies go over https alone. */
  secure: boolean;
  /** Epoch seconds. */
  now: () => number;
}

/** The login of the browser that asks, for pages that stand outside of any authorization request. */
export interface OwnSessions {
  /** Gives who is logged in; undefined where nobody is, or the account was removed or disabled. */
  find(ctx: Context): Promise<LoggedIn | undefined>;
  /**
   * Logs an account in. The session gets a new id, and the one before is dead (T-119); whoever else was logged in here
   * is logged out.
   * @param amr how the person proved who they are (RFC 8176)
   * @param loginTs when they did, epoch seconds; now where it is left out
   * @param acr what the login hangs on elsewhere
   */
  start(ctx: Context, accountId: string, amr: string[], loginTs?: number, acr?: string): Promise<void>;
  /** Logs the browser out. */
  end(ctx: Context): Promise<void>;
}

/** Creates the access to the engine's login sessions. What is written goes into the request's write set. */
export function createOwnSessions(options: OwnSessionOptions): OwnSessions {
  const { provider, accounts, lifetimes, secure, now } = options;
  const cookie = provider.cookieName('session');
  const attributes = { httpOnly: true, sameSite: 'lax', secure, path: '/', signed: true } as const;

  async function presentFor(ctx: Context, accountId: string): Promise<LoginSession> {
    const present = await provider.Session.get(ctx);
    const stillStands = present.exp !== undefined;
    if (stillStands && present.accountId === accountId) {
      present.resetIdentifier();
      return present;
    }
    if (stillStands) await present.destroy();
    return new provider.Session();
  }

  return {
    async find(ctx) {
      const session = await provider.Session.get(ctx);
      if (session.accountId === undefined) return undefined;
      const account = await accounts.find(session.accountId);
      return account?.disabledAt === undefined ? account && { session, account } : undefined;
    },
    async start(ctx, accountId, amr, loginTs = now(), acr) {
      const session = await presentFor(ctx, accountId);
      session.loginAccount({ accountId, loginTs, amr, ...(acr === undefined ? undefined : { acr }) });
      session.browser = browserFamily(ctx.get('user-agent'));
      const seconds = sessionTtl(lifetimes, loginTs, now());
      await session.save(seconds);
      ctx.cookies.set(cookie, session.jti, { ...attributes, expires: new Date((now() + seconds) * 1000) });
    },
    async end(ctx) {
      const session = await provider.Session.get(ctx);
      if (session.exp !== undefined) await session.destroy();
      ctx.cookies.set(cookie, null, attributes);
    },
  };
}
