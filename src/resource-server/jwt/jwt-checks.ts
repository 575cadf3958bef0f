/** Reasons why a JWT is no access token for this resource. */
export type JwtFault =
  | 'wrong_type'
  | 'algorithm_not_allowed'
  | 'critical_extension'
  | 'no_key_id'
  | 'other_audience'
  | 'expiry_is_no_time'
  | 'expired'
  | 'expiry_too_far'
  | 'issue_is_no_time'
  | 'issued_in_the_future'
  | 'not_yet_valid'
  | 'no_subject'
  | 'no_client'
  | 'no_id'
  | 'scope_is_no_text'
  | 'unknown_binding';

/** The unverified members of a header or claims set. */
export type JwtPart = Readonly<Record<string, unknown>>;

/** Expected resource and time. */
export interface JwtExpectation {
  resource: string;
  /** Epoch seconds. */
  nowSeconds: number;
}

/** Accepted signature algorithms; never a shared secret, never `none` (RFC 9068 section 2.1, T-098). */
export const tokenAlgorithms = ['ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA', 'PS256', 'RS256'] as const;

/** Accepted clock skew of the issuer, in seconds (T-097). */
const maxClockSkewSeconds = 60;

/** Maximum lifetime of an access token, in seconds; a longer one is a mistake. */
const maxLifetimeSeconds = 366 * 24 * 60 * 60;

/** Maximum length of a key id, subject, client or token id, in characters (T-099). */
const maxNameLength = 512;

const headerChecks: readonly ((header: JwtPart) => JwtFault | undefined)[] = [
  ({ typ }) => (isTokenType(typ) ? undefined : 'wrong_type'),
  ({ alg }) => (tokenAlgorithms.some((known) => known === alg) ? undefined : 'algorithm_not_allowed'),
  ({ crit }) => (crit === undefined ? undefined : 'critical_extension'),
  ({ kid }) => (isName(kid) ? undefined : 'no_key_id'),
];

const claimChecks: readonly ((claims: JwtPart, expected: JwtExpectation) => JwtFault | undefined)[] = [
  ({ aud }, { resource }) => ([aud].flat().includes(resource) ? undefined : 'other_audience'),
  ({ exp }) => (isTime(exp) ? undefined : 'expiry_is_no_time'),
  ({ exp }, { nowSeconds }) => (Number(exp) + maxClockSkewSeconds <= nowSeconds ? 'expired' : undefined),
  ({ exp }, { nowSeconds }) => (Number(exp) > nowSeconds + maxLifetimeSeconds ? 'expiry_too_far' : undefined),
  ({ iat }) => (isTime(iat) ? undefined : 'issue_is_no_time'),
  ({ iat }, { nowSeconds }) =>
    Number(iat) > nowSeconds + maxClockSkewSeconds ? 'issued_in_the_future' : undefined,
  ({ nbf }, { nowSeconds }) =>
    nbf === undefined || (isTime(nbf) && nbf <= nowSeconds + maxClockSkewSeconds)
      ? undefined
      : 'not_yet_valid',
  ({ sub }) => (isName(sub) ? undefined : 'no_subject'),
  ({ client_id }) => (isName(client_id) ? undefined : 'no_client'),
  ({ jti }) => (isName(jti) ? undefined : 'no_id'),
  ({ scope }) => (scope === undefined || typeof scope === 'string' ? undefined : 'scope_is_no_text'),
  ({ cnf }) => (cnf === undefined || keyThumbprintOf(cnf) !== undefined ? undefined : 'unknown_binding'),
];

/**
 * Verifies the header of a token, in this order: type, algorithm, no critical extension, key id.
 * @returns the first fault
 * @see RFC 9068 sections 2.1 and 4; RFC 8725 sections 3.1 and 3.11; RFC 7515 section 4.1.11 (A12-11)
 */
export function checkJwtHeader(header: JwtPart): JwtFault | undefined {
  for (const check of headerChecks) {
    const fault = check(header);
    if (fault) return fault;
  }
  return undefined;
}

/**
 * Verifies the claims of a trusted issuer's token, in this order: audience, times, identifiers, scope, binding. A token
 * with an unknown binding is rejected: it is no bearer token.
 * @returns the first fault
 * @see RFC 9068 sections 2.2 and 4; RFC 7800 section 3.1 (A12-11)
 */
export function checkJwtClaims(claims: JwtPart, expected: JwtExpectation): JwtFault | undefined {
  for (const check of claimChecks) {
    const fault = check(claims, expected);
    if (fault) return fault;
  }
  return undefined;
}

/** Returns the key thumbprint of a `cnf` claim; undefined if it has none, or another member as well. */
export function keyThumbprintOf(cnf: unknown): string | undefined {
  if (typeof cnf !== 'object' || cnf === null || Object.keys(cnf).length !== 1) return undefined;
  const { jkt } = cnf as { jkt?: unknown };
  return isName(jkt) ? jkt : undefined;
}

/** Media types are case-insensitive and may have the prefix `application/` (RFC 7515 section 4.1.9). */
function isTokenType(typ: unknown): boolean {
  return typeof typ === 'string' && /^(application\/)?at\+jwt$/i.test(typ);
}

function isTime(seconds: unknown): seconds is number {
  return Number.isSafeInteger(seconds) && Number(seconds) > 0;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxNameLength;
}
