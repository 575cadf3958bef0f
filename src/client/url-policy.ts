import { isLoopbackHost } from '../oauth/redirect-uri.ts';
import { canonicalResource } from '../oauth/resource-indicator.ts';
import { ClientError } from './client-error.ts';
import { quote } from './quote.ts';

/** Rules for URLs that a server or a user names. */
export interface UrlRules {
  /** See {@link ClientContext.dangerouslyAllowHttp}. */
  dangerouslyAllowHttp?: boolean | undefined;
  /**
   * False if the MCP server is on a public host: it then must not direct the client into the local network
   * (T-185).
   */
  allowLocal?: boolean;
}

/**
 * Requires a URL that the client may fetch or open in a browser: absolute, https (http on loopback only),
 * printable ASCII without quotes, userinfo and fragment.
 * @param value the URL to check
 * @param name the subject of the message
 * @param rules the allowed targets
 * @throws ClientError `bad_url`
 * @see MCP authorization "Communication Security"; RFC 3986 section 2 (A12-03, T-182, T-185)
 */
export function requireUrl(value: unknown, name: string, rules: UrlRules = {}): URL {
  const refuse = (why: string): never => {
    throw new ClientError('bad_url', `${name} ${quote(value)} is refused: ${why}.`);
  };
  if (value === undefined) throw new ClientError('bad_url', `${name} is missing.`);
  if (typeof value !== 'string') return refuse('it is not a string');
  if (/[^\x21-\x7E]|[\\<>"`{}|^]/.test(value)) return refuse('it has characters that no URL has');
  const url = URL.parse(value);
  if (!url) return refuse('it is not an absolute URL');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('only http and https are allowed');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && rules.dangerouslyAllowHttp !== true)
    return refuse('http is allowed for loopback hosts only, use https');
  if (url.username !== '' || url.password !== '') return refuse('it has a user name or password in it');
  if (value.includes('#')) return refuse('it has a fragment');
  if (rules.allowLocal === false && isLocalAddress(url.hostname))
    return refuse('it points into the local network, which the server is not part of');
  return url;
}

/**
 * Returns the canonical URL of an MCP server, under which its login is stored: two spellings are one server.
 * @param url URL of the MCP server
 * @param rules the allowed targets
 * @throws ClientError `bad_url`
 * @see RFC 8707 section 2; MCP authorization "Canonical Server URI" (A7-01)
 */
export function canonicalServerUrl(url: string, rules: UrlRules = {}): string {
  const { href } = requireUrl(URL.parse(url)?.href ?? url, 'The MCP server URL', rules);
  return canonicalResource(href) ?? href;
}

/** IPv4 networks of this machine and private ones (RFC 6890). */
const localIpv4 =
  /^(?:0|10|127)\.|^169\.254\.|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;

/** IPv6: unspecified, loopback, IPv4-mapped, unique local, link-local. */
const localIpv6 = /^\[(?:::1?\]|::ffff:|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/;

/**
 * Checks if a host name or address is this machine or in a private network. Names are not resolved: if that
 * is a risk, the injected fetch has to check addresses.
 * @param hostname `hostname` of a parsed URL, which contains IP addresses in their normal form
 * @see RFC 9728 section 7.7 (T-185)
 */
export function isLocalAddress(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    (/^[\d.]+$/.test(name) && localIpv4.test(name)) ||
    localIpv6.test(name)
  );
}
