import { createHash } from 'node:crypto';
import { asObject, asText, type JsonObject } from '../oauth/foreign-json.ts';
import { privateKeyAlgorithms } from '../oauth/signature-algorithms.ts';
import type { UpstreamReason } from './upstream-fault.ts';

/** A decoded JWT; nothing in it is verified yet. */
export interface ReadJwt {
  header: JsonObject;
  claims: JsonObject;
}

/** The expected values of a JWT of an upstream. */
export interface JwtContext {
  /**
   * Allowed issuers: that of the metadata, and other spellings of a preset. Empty if its claims allow none.
   */
  issuers: readonly string[];
  clientId: string;
  /** Signature algorithms by the metadata of the upstream; all supported ones if absent. */
  algorithms?: readonly string[] | undefined;
  /** Epoch seconds. */
  nowSeconds: number;
  /** The nonce of an ID token; undefined for none. */
  nonce?: string | undefined;
  /** Earliest login time of an ID token, epoch seconds; undefined for any. */
  loggedInSince?: number | undefined;
  /** True if it may omit the login time. */
  mayLackAuthTime?: boolean | undefined;
  /** The access token of the same response. */
  accessToken?: string | undefined;
}

/**
 * A check of a JWT.
 * @returns the name of the fault, if there is one
 */
export type JwtCheck = (jwt: ReadJwt, context: JwtContext) => UpstreamReason | false | undefined;

/** Maximum length of a JWT, in characters. */
const maxCharacters = 32_768;

/** Maximum difference between the clocks of an upstream and this machine, in seconds. */
export const skewSeconds = 60;

/** Maximum length of a subject (OpenID Connect Core 1.0 section 2). */
const maxSubjectCharacters = 255;

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

function readPart(part: string | undefined): JsonObject | undefined {
  try {
    return asObject(JSON.parse(Buffer.from(part ?? '', 'base64url').toString()));
  } catch {
    return undefined;
  }
}

/**
 * Decodes a signed JWT (RFC 7515 section 3.1).
 * @returns undefined if it is invalid
 */
export function readJwt(jwt: string): ReadJwt | undefined {
  if (jwt.length > maxCharacters) return undefined;
  const parts = jwt.split('.');
  const header = readPart(parts[0]);
  const claims = readPart(parts[1]);
  return parts.length === 3 && header && claims ? { header, claims } : undefined;
}

/** Returns the left half of the hash of an access token (OpenID Connect Core 1.0 section 3.1.3.6). */
function accessTokenHash(accessToken: string, algorithm: unknown): string {
  const bits = /(256|384|512)$/.exec(String(algorithm))?.[1] ?? '512';
  const digest = createHash(`sha${/^Ed/.test(String(algorithm)) ? '512' : bits}`)
    .update(accessToken)
    .digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

const algorithm: JwtCheck = ({ header }, { algorithms }) =>
  (!privateKeyAlgorithms.some((alg) => alg === header.alg) ||
    (algorithms !== undefined && !algorithms.some((alg) => alg === header.alg)) ||
    header.crit !== undefined) &&
  'jwt_algorithm';

const issuer: JwtCheck = ({ claims }, { issuers }) =>
  !issuers.some((known) => known === claims.iss) && 'jwt_issuer';

/** The audience is this client only, or also others if `azp` is this client. */
const audience: JwtCheck = ({ claims: { aud, azp } }, { clientId }) => {
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(clientId)) return 'jwt_audience';
  if (azp !== undefined && azp !== clientId) return 'jwt_authorized_party';
  return audiences.length > 1 && azp === undefined && 'jwt_authorized_party';
};

const times: JwtCheck = ({ claims: { exp, iat, nbf } }, { nowSeconds }) => {
  if (!isTime(exp) || !isTime(iat) || (nbf !== undefined && !isTime(nbf))) return 'jwt_claims';
  if (exp + skewSeconds <= nowSeconds) return 'jwt_expired';
  return Math.max(iat, Number(nbf ?? 0)) > nowSeconds + skewSeconds && 'jwt_from_future';
};

const subject: JwtCheck = ({ claims: { sub } }) =>
  (asText(sub) === undefined || String(sub).length > maxSubjectCharacters) && 'jwt_claims';

const nonce: JwtCheck = ({ claims }, context) => claims.nonce !== context.nonce && 'jwt_nonce';

/** The login is as recent as requested (OpenID Connect Core 1.0 sections 2 and 3.1.3.7, rule 13). */
const loginAge: JwtCheck = (
  { claims: { auth_time: at } },
  { loggedInSince, mayLackAuthTime, nowSeconds },
) => {
  if (loggedInSince === undefined) return false;
  if (at === undefined) return !mayLackAuthTime && 'jwt_auth_time_missing';
  if (!isTime(at)) return 'jwt_claims';
  // A time in milliseconds would make every login recent.
  if (at > nowSeconds + skewSeconds) return 'jwt_from_future';
  return at + skewSeconds < loggedInSince && 'jwt_auth_time';
};

const accessTokenBinding: JwtCheck = ({ header, claims: { at_hash: hash } }, { accessToken }) =>
  hash !== undefined &&
  accessToken !== undefined &&
  hash !== accessTokenHash(accessToken, header.alg) &&
  'jwt_access_token';

/** Checks of an ID token, besides its signature (OpenID Connect Core 1.0 section 3.1.3.7; T-085). */
export const idTokenChecks: readonly JwtCheck[] = [
  algorithm,
  issuer,
  audience,
  times,
  subject,
  nonce,
  loginAge,
  accessTokenBinding,
];

/** The event of a logout token. */
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

const isLogoutToken: JwtCheck = ({ header: { typ }, claims: { events } }) =>
  // The type is only recommended; another type is another kind of token.
  ((typ !== undefined && (typeof typ !== 'string' || !/^(logout\+)?jwt$/i.test(typ))) ||
    asObject(asObject(events)?.[logoutEvent]) === undefined) &&
  'logout_token_type';

const noNonce: JwtCheck = ({ claims }) => claims.nonce !== undefined && 'logout_token_nonce';

const aboutSomebody: JwtCheck = ({ claims: { sub, sid, jti } }) =>
  ((asText(sub) === undefined && asText(sid) === undefined) ||
    [sub, sid].some((name) => name !== undefined && asText(name) === undefined) ||
    asText(jti) === undefined ||
    String(jti).length > maxSubjectCharacters) &&
  'jwt_claims';

/**
 * Checks of a logout token, besides its signature (OpenID Connect Back-Channel Logout 1.0 section 2.6;
 * T-091).
 */
export const logoutTokenChecks: readonly JwtCheck[] = [
  algorithm,
  isLogoutToken,
  noNonce,
  issuer,
  audience,
  times,
  aboutSomebody,
];

/** Returns the first fault that the checks find. */
export function findJwtFault(
  checks: readonly JwtCheck[],
  jwt: ReadJwt,
  context: JwtContext,
): UpstreamReason | undefined {
  for (const check of checks) {
    const reason = check(jwt, context);
    if (reason) return reason;
  }
  return undefined;
}
