/** Schemes that run, render or open something of the system instead of leading back to a client (T-003, T-214). */
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
 * A domain name in reverse (RFC 8252 section 7.1), which begins with a top-level domain: `x-apple.systempreferences:` opens
 * the settings of the system.
 */
const reverseDomain = /^(?:[a-z]{2,}|xn--[a-z0-9-]+)(?:\.[a-z0-9-]+)+$/;

/** Whether a scheme is one that redirect URIs can never have: it runs or renders, or is no scheme. */
export function isForbiddenScheme(scheme: string): boolean {
  return !/^[a-z][a-z0-9+.-]*$/.test(scheme) || forbiddenSchemes.has(`${scheme}:`);
}

/**
 * Whether a client that registers itself may have redirect URIs of this scheme: https, http, a domain name in reverse, a
 * known app, or a scheme that the operator allows. A scheme that the operating system gives to a program of its own is none
 * of these.
 * @param uri a redirect URI that {@link checkRedirectUri} accepts
 * @param allowed further schemes, in lower case and without a colon
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

/** Why a redirect URI cannot be registered. */
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

/** Longest redirect URI accepted, in characters. */
const maxRedirectUriLength = 2048;

/** The authority as written. The URL parser also reads `https:host` and `https:///host`, which RFC 3986 has no host in. */
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

/** @returns whether the URI has a scheme of its own, neither http nor https (RFC 8252 section 7.1) */
export function isPrivateUseRedirect(uri: string): boolean {
  const url = URL.parse(uri);
  return url !== null && !/^https?:$/.test(url.protocol);
}

/**
 * One rule list for redirect URIs at registration: https anywhere, http on loopback only, private-use schemes that cannot run code.
 * A loopback host counts as written: `0x7f.1` reaches the same machine, but compares as another string (T-002).
 * @param value an entry of `redirect_uris`
 * @returns the first fault, or undefined for a URI that may be registered
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
  // RFC 3986 section 2: a host in other characters leads to another name than the one that people read.
  return /[^\x21-\x7E]/.test(value) ? 'illegal_character' : undefined;
}

/** Letters, digits, hyphens and dots; what a host name looks like once the URL parser has written it. */
const writtenHost = /^[a-z0-9.:[\]-]+$/;

/**
 * Returns the one spelling of a host name: lower case, punycode, no dot at its end (T-078).
 * @param host a host name or address as somebody wrote it, without scheme, port or path
 * @returns undefined for what is no host
 */
export function canonicalHost(host: string): string | undefined {
  const url = URL.parse(`https://${host}/`);
  // Whatever else the text held (a path, a user name) would show in the whole, but for the port that https has anyway.
  if (!url || /:\d*$/.test(host) || url.href !== `https://${url.hostname}/`) return undefined;
  const hostname = url.hostname.replace(/\.$/, '');
  return writtenHost.test(hostname) ? hostname : undefined;
}

/**
 * Returns the one spelling of a host pattern: a host name, which means that host alone, or `*.` and a host name, which
 * means every host below it and not the host itself.
 * @returns undefined for what is no such pattern
 */
export function canonicalHostPattern(pattern: string): string | undefined {
  const below = pattern.startsWith('*.');
  const host = canonicalHost(below ? pattern.slice(2) : pattern);
  return host && below ? `*.${host}` : host;
}

/**
 * @param pattern a canonical pattern
 * @param host a canonical host
 * @returns whether the pattern means the host; whole labels count, never parts of them
 */
export function matchesHost(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
