/** How a token is presented: by whoever bears it (RFC 6750), or with a proof of the key it is bound to (RFC 9449). */
export type TokenScheme = 'Bearer' | 'DPoP';

/** What an `Authorization` header holds, as far as a protected resource cares. */
export type BearerCredentials =
  | { kind: 'none' }
  | { kind: 'token'; scheme: TokenScheme; token: string }
  | { kind: 'malformed'; scheme: TokenScheme; reason: MalformedReason };

/** What is wrong with how a token is presented. */
export type MalformedReason = 'two_headers' | 'empty' | 'illegal_character' | 'too_long';

/** Longest token looked at, in characters; longer ones are malformed. */
export const maxBearerLength = 8192;

const b64token = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Reads the access token of a request, and how it is presented.
 * Another scheme counts as no credentials: the caller is told which scheme to use, not that its token is bad.
 * @param headers every `Authorization` header field of the request, in order
 * @see RFC 6750 section 2.1; RFC 9449 section 7.1; RFC 9110 section 11.6.2
 */
export function parseBearer(headers: readonly string[]): BearerCredentials {
  if (headers.length > 1) return { kind: 'malformed', scheme: 'Bearer', reason: 'two_headers' };
  const header = headers[0];
  if (header === undefined) return { kind: 'none' };
  const match = /^(bearer|dpop)(?:[ \t]+(.*))?$/i.exec(header.trim());
  if (!match) return { kind: 'none' };
  const scheme = match[1]?.length === 4 ? 'DPoP' : 'Bearer';
  const refuse = (reason: MalformedReason): BearerCredentials => ({ kind: 'malformed', scheme, reason });
  const token = (match[2] ?? '').trim();
  if (token === '') return refuse('empty');
  if (token.length > maxBearerLength) return refuse('too_long');
  if (!b64token.test(token)) return refuse('illegal_character');
  return { kind: 'token', scheme, token };
}
