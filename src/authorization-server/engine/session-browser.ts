import Provider from 'oidc-provider';
import { type BrowserFamily, browserFamily } from './browser-family.ts';

/** What of ours stands in a login session, beside what the engine puts there; sealed and ended with it. */
export interface SessionBrowser {
  /** The browser of the login; undefined where it is none of those known by name. */
  browser?: BrowserFamily | undefined;
  /** When the person last proved on the account pages who they are, in epoch seconds; undefined for never. */
  provedAt?: number | undefined;
}

/**
 * Has the login sessions of a provider keep which browser somebody logged in with, and when they proved who they are for
 * the account pages, which a login for an app does not.
 * @param provider the engine, before it has served a request
 */
export function keepBrowserOfLogin({ Session }: Provider): void {
  const members = Reflect.get(Session, 'IN_PAYLOAD') as string[];
  Object.defineProperty(Session, 'IN_PAYLOAD', { value: [...members, 'browser', 'provedAt'] });
  const { prototype } = Session;
  const { loginAccount } = prototype;
  prototype.loginAccount = function logIn(this: typeof prototype & SessionBrowser, details) {
    loginAccount.call(this, details);
    this.provedAt = undefined;
    const { ctx } = Provider;
    if (ctx) this.browser = browserFamily(ctx.get('user-agent'));
  };
}
