import { isLoopbackHost } from '../oauth/redirect-uri.ts';
import { ClientError } from './client-error.ts';
import { isLocalAddress } from './local-address.ts';
import { quote } from './quote.ts';

/** What URLs from a server may point at. */
export interface UrlRules {
  /** See {@link ClientContext.dangerouslyAllowHttp}. */
  dangerouslyAllowHttp?: boolean | undefined;
  /** False where the MCP server is on a public host: it may not send us into the local network (T-185). */
  allowLocal?: boolean;
}

/**
 * Requires a URL that the client may fetch or hand to a browser: absolute, https (http on loopback only), printable
 * ASCII without quotes, no userinfo, no fragment.
 * @param value what a server or user gave
 * @param name what it is, for the message
 * @param rules what it may point at
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
