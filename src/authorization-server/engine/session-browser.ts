import Provider from 'oidc-provider';

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

/** How long a login in a browser lasts, in seconds. */
export interface SessionLife {
  /** From the login, however often it is used. */
  sessionSeconds: number;
  /** Without being used. */
  sessionIdleSeconds: number;
}

/**
 * How long a login may go on unused from now on: never past its end (T-124).
 * @param loginTs when the person logged in, epoch seconds; undefined for a session in which nobody did
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
  /** The system it runs on, such as Linux; undefined where it is none of those known here. */
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
