import Provider from 'oidc-provider';
import { storeInSession } from './engine-internals.ts';

/** Gatehouse's own fields in an oidc-provider session; sealed and deleted with it. */
export interface SessionBrowser {
  /** The browser of the login; undefined if its name is not known. */
  browser?: BrowserFamily | undefined;
  /** Time of the user's last authentication on the account pages, in epoch seconds; undefined for never. */
  provedAt?: number | undefined;
}

/**
 * Makes login sessions store the browser of the login, and the time of the last authentication on the account pages. A
 * login for an app does not count as such an authentication.
 * @param provider the engine, before it has served a request
 */
export function keepBrowserOfLogin(provider: Provider): void {
  storeInSession(provider, ['browser', 'provedAt']);
  const { prototype } = provider.Session;
  const { loginAccount } = prototype;
  prototype.loginAccount = function logIn(this: typeof prototype & SessionBrowser, details) {
    loginAccount.call(this, details);
    this.provedAt = undefined;
    const { ctx } = Provider;
    if (ctx) this.browser = browserFamily(ctx.get('user-agent'));
  };
}

/** Lifetimes of a login in a browser, in seconds. */
export interface SessionLife {
  /** From the login, however often it is used. */
  sessionSeconds: number;
  /** Without being used. */
  sessionIdleSeconds: number;
}

/**
 * Returns the seconds that a login may stay unused from now on; never past its end (T-124).
 * @param loginTs time of the login, epoch seconds; undefined for a session without a login
 * @param now epoch seconds
 * @returns seconds, at least 1
 * @see OWASP ASVS 5.0 section 7.3
 */
export function sessionTtl(life: SessionLife, loginTs: number | undefined, now: number): number {
  const ends = (loginTs ?? now) + life.sessionSeconds;
  return Math.max(1, Math.min(life.sessionIdleSeconds, ends - now));
}

/** A browser as coarsely as a person tells browsers apart: nothing else of its `User-Agent` is kept. */
export interface BrowserFamily {
  /** Its name, such as Firefox. */
  name: string;
  /** Operating system, such as Linux; undefined if it is not known. */
  system?: string;
}

/** The first that fits counts: most browsers claim to be Chrome and Safari as well. */
const names: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|\bCriOS)\//, 'Chrome'],
  [/\bVersion\/[\d.]+ (Mobile\/\w+ )?Safari\//, 'Safari'],
];

/** The first that fits counts: Android is a Linux, and an iPhone says “like Mac OS X”. */
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iOS'],
  [/\biPad\b/, 'iPadOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/**
 * Finds out which browser a request came from. It is a hint for the person whose login it is, and proves nothing.
 * @param userAgent the header `User-Agent`; empty for none (RFC 9110 section 10.1.5)
 * @returns names out of tables of ours; undefined for what is none of the browsers there
 */
export function browserFamily(userAgent: string): BrowserFamily | undefined {
  const first = (table: typeof names): string | undefined =>
    table.find(([pattern]) => pattern.test(userAgent))?.[1];
  const name = first(names);
  const system = first(systems);
  return name === undefined ? undefined : { name, ...(system === undefined ? undefined : { system }) };
}
