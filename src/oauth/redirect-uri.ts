/** Schemes that execute, render or open something of the system instead of returning to a client (T-003, T-214). */
const forbiddenSchemes = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'blob:',
  'file:',
  'about:',
  'ftp:',
  'mailto:',
  'ws:',
  'wss:',
  'chrome:',
  'filesystem:',
  'intent:',
  'jar:',
  'ldap:',
  'ldaps:',
  'ms-msdt:',
  'search:',
  'search-ms:',
  'shell:',
  'smb:',
  'view-source:',
]);

/** Schemes without a dot that apps with MCP clients register (T-214). */
const knownAppSchemes: ReadonlySet<string> = new Set([
  'antigravity',
  'chatgpt',
  'claude',
  'code-oss',
  'codex',
  'cursor',
  'cursor-nightly',
  'goose',
  'jetbrains',
  'kiro',
  'lmstudio',
  'obsidian',
  'positron',
  'postman',
  'raycast',
  'trae',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'warp',
  'warppreview',
  'windsurf',
  'windsurf-next',
  'zed',
]);

/**
 * A reverse domain name (RFC 8252 section 7.1), which begins with a top-level domain: `x-apple.systempreferences:`
 * opens the system settings.
 */
const reverseDomain = /^(?:[a-z]{2,}|xn--[a-z0-9-]+)(?:\.[a-z0-9-]+)+$/;

/** Returns whether redirect URIs can never have this scheme: it executes or renders, or is no valid scheme. */
export function isForbiddenScheme(scheme: string): boolean {
  return !/^[a-z][a-z0-9+.-]*$/.test(scheme) || forbiddenSchemes.has(`${scheme}:`);
}

/**
 * Returns whether a client that registers itself may have redirect URIs of this scheme: https, http, a reverse domain
 * name, a known app, or a scheme that the operator allows. Schemes of programs of the operating system are excluded.
 * @param uri a redirect URI that {@link checkRedirectUri} accepts
 * @param allowed additional schemes, in lower case and without a colon
 * @see RFC 8252 section 7.1 (T-214)
 */
export function hasAcceptedScheme(uri: string, allowed: readonly string[]): boolean {
  const scheme = uri.slice(0, uri.indexOf(':')).toLowerCase();
  if (isForbiddenScheme(scheme)) return false;
  return (
    scheme === 'https' ||
    scheme === 'http' ||
    reverseDomain.test(scheme) ||
    knownAppSchemes.has(scheme) ||
    allowed.includes(scheme)
  );
}

const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Reasons why a redirect URI cannot be registered. */
export type RedirectUriFault =
  | 'not_a_string'
  | 'too_long'
  | 'not_absolute'
  | 'illegal_character'
  | 'forbidden_scheme'
  | 'fragment'
  | 'userinfo'
  | 'wildcard'
  | 'http_not_loopback';

/** Maximum length of a redirect URI, in characters. */
const maxRedirectUriLength = 2048;

/**
 * The authority as written. The URL parser also accepts `https:host` and `https:///host`, which have no host in RFC
 * 3986.
 */
const writtenAuthority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i;

/**
 * @param hostname `hostname` of a parsed URL
 * @returns whether it is a loopback host: `127.0.0.1`, `[::1]` or `localhost` (RFC 8252 sections 7.3, 8.3)
 */
export function isLoopbackHost(hostname: string): boolean {
  return loopbackHosts.has(hostname);
}

/** @returns whether the URI is an http(s) URI on a loopback host */
export function isLoopbackRedirect(uri: string): boolean {
  const url = URL.parse(uri);
  return url !== null && /^https?:$/.test(url.protocol) && isLoopbackHost(url.hostname);
}

/** @returns whether the URI has a private-use scheme, neither http nor https (RFC 8252 section 7.1) */
export function isPrivateUseRedirect(uri: string): boolean {
  const url = URL.parse(uri);
  return url !== null && !/^https?:$/.test(url.protocol);
}

/**
 * Checks a redirect URI at registration: https anywhere, http on loopback only, private-use schemes that cannot execute
 * code. A loopback host is compared as written: `0x7f.1` reaches the same machine, but is another string (T-002).
 * @param value an entry of `redirect_uris`
 * @returns the first fault; undefined if the URI may be registered
 * @see RFC 7591 section 5; RFC 8252 section 7; MCP authorization "Redirect URIs" (A6-02, T-003, T-058)
 */
export function checkRedirectUri(value: unknown): RedirectUriFault | undefined {
  if (typeof value !== 'string') return 'not_a_string';
  if (value.length > maxRedirectUriLength) return 'too_long';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
  if (/[\x00-\x20\x7F\\<>"`{}|^]/.test(value)) return 'illegal_character';
  const url = URL.parse(value);
  if (!url) return 'not_absolute';
  if (forbiddenSchemes.has(url.protocol)) return 'forbidden_scheme';
  if (value.includes('#')) return 'fragment';
  const authority = writtenAuthority.exec(value)?.[1] ?? '';
  if (authority === '' && !isPrivateUseRedirect(value)) return 'not_absolute';
  if (authority.includes('@')) return 'userinfo';
  if (value.includes('*')) return 'wildcard';
  const host = authority.replace(/:\d*$/, '').toLowerCase();
  if (url.protocol === 'http:' && !isLoopbackHost(host)) return 'http_not_loopback';
  // RFC 3986 section 2: a host with other characters leads to another name than people read.
  return /[^\x21-\x7E]/.test(value) ? 'illegal_character' : undefined;
}

/** Form of a host name as the URL parser writes it: letters, digits, hyphens and dots. */
const writtenHost = /^[a-z0-9.:[\]-]+$/;

/**
 * Returns the canonical spelling of a host name: lower case, punycode, no trailing dot (T-078).
 * @param host a host name or address as written, without scheme, port or path
 * @returns undefined if it is no host
 */
export function canonicalHost(host: string): string | undefined {
  const url = URL.parse(`https://${host}/`);
  // Any other part in the text (a path, a user name) would appear in the result, except the default port of https.
  if (!url || /:\d*$/.test(host) || url.href !== `https://${url.hostname}/`) return undefined;
  const hostname = url.hostname.replace(/\.$/, '');
  return writtenHost.test(hostname) ? hostname : undefined;
}

/**
 * Returns the canonical spelling of a host pattern: a host name, which matches only that host, or `*.` and a host name,
 * which matches every host below it but not the host itself.
 * @returns undefined if it is no such pattern
 */
export function canonicalHostPattern(pattern: string): string | undefined {
  const below = pattern.startsWith('*.');
  const host = canonicalHost(below ? pattern.slice(2) : pattern);
  return host && below ? `*.${host}` : host;
}

/**
 * @param pattern a canonical pattern
 * @param host a canonical host
 * @returns whether the pattern matches the host, by whole labels
 */
export function matchesHost(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
