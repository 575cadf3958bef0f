/** What an `Authorization` header holds, as far as a bearer-protected resource cares. */
export type BearerCredentials =
  | { kind: 'none' }
  | { kind: 'token'; token: string }
  | { kind: 'malformed'; reason: 'two_headers' | 'empty' | 'illegal_character' | 'too_long' };

/** Longest bearer token looked at, in characters; longer ones are malformed. */
export const maxBearerLength = 8192;

const b64token = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Reads the bearer token of a request.
 * Another scheme counts as no credentials: the caller is told which scheme to use, not that its token is bad.
 * @param headers every `Authorization` header field of the request, in order
 * @see RFC 6750 section 2.1; RFC 9110 section 11.6.2
 */
export function parseBearer(headers: readonly string[]): BearerCredentials {
  if (headers.length > 1) return { kind: 'malformed', reason: 'two_headers' };
  const header = headers[0];
  if (header === undefined) return { kind: 'none' };
  const match = /^bearer(?:[ \t]+(.*))?$/i.exec(header.trim());
  if (!match) return { kind: 'none' };
  const token = (match[1] ?? '').trim();
  if (token === '') return { kind: 'malformed', reason: 'empty' };
  if (token.length > maxBearerLength) return { kind: 'malformed', reason: 'too_long' };
  if (!b64token.test(token)) return { kind: 'malformed', reason: 'illegal_character' };
  return { kind: 'token', token };
}
