/** Letters, digits, hyphens and dots; what a host name looks like once the URL parser has written it. */
const writtenHost = /^[a-z0-9.:[\]-]+$/;

/**
 * Gives the one spelling of a host name: lower case, punycode, no dot at its end (T-078).
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
 * Gives the one spelling of a host pattern: a host name, which means that host alone, or `*.` and a host name, which
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
