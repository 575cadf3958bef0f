import Provider from 'oidc-provider';
import { type BrowserFamily, browserFamily } from './browser-family.ts';

/** What of ours stands in a login session, beside what the engine puts there; sealed and ended with it. */
export interface SessionBrowser {
  /** The browser of the login; undefined where it is none of those known by name. */
  browser?: BrowserFamily | undefined;
}

/**
 * Has the login sessions of a provider keep which browser somebody logged in with.
 * @param provider the engine, before it has served a request
 */
export function keepBrowserOfLogin({ Session }: Provider): void {
  const members = Reflect.get(Session, 'IN_PAYLOAD') as string[];
  Object.defineProperty(Session, 'IN_PAYLOAD', { value: [...members, 'browser'] });
  const { prototype } = Session;
  const { loginAccount } = prototype;
  prototype.loginAccount = function logIn(this: typeof prototype & SessionBrowser, details) {
    loginAccount.call(this, details);
    const { ctx } = Provider;
    if (ctx) this.browser = browserFamily(ctx.get('user-agent'));
  };
}
