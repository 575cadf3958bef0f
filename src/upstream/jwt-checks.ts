import { createHash } from 'node:crypto';
import { asObject, asText, type JsonObject } from '../oauth/foreign-json.ts';
import { privateKeyAlgorithms } from '../oauth/signature-algorithms.ts';
import type { UpstreamReason } from './upstream-fault.ts';

/** A JWT that was taken apart; nothing in it is to be believed yet. */
export interface ReadJwt {
  header: JsonObject;
  claims: JsonObject;
}

/** What a JWT of an upstream is compared with. */
export interface JwtContext {
  /** Issuers it may name: that of the metadata, and spellings a preset knows. None where its claims allow none. */
  issuers: readonly string[];
  clientId: string;
  /** Algorithms the upstream signs with by its metadata; all we know where absent. */
  algorithms?: readonly string[] | undefined;
  /** Epoch seconds. */
  nowSeconds: number;
  /** What an ID token is to hold; undefined for none. */
  nonce?: string | undefined;
  /** An ID token is to be of a login no older than this, epoch seconds; undefined where any will do. */
  loggedInSince?: number | undefined;
  /** Whether it may leave out when that was. */
  mayLackAuthTime?: boolean | undefined;
  /** The access token that came with an ID token. */
  accessToken?: string | undefined;
}

/** One check of a JWT. @returns the name of the fault, where there is one */
export type JwtCheck = (jwt: ReadJwt, context: JwtContext) => UpstreamReason | false | undefined;

/** Longest JWT looked at, in characters. */
const maxCharacters = 32_768;

/** How far the clocks of an upstream and of this machine may be apart, in seconds. */
export const skewSeconds = 60;

/** Longest subject (OpenID Connect Core 1.0 section 2). */
const maxSubjectCharacters = 255;

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

function readPart(part: string | undefined): JsonObject | undefined {
  try {
    return asObject(JSON.parse(Buffer.from(part ?? '', 'base64url').toString()));
  } catch {
    return undefined;
  }
}

/** Takes a signed JWT apart (RFC 7515 section 3.1). @returns undefined for what is none */
export function readJwt(jwt: string): ReadJwt | undefined {
  if (jwt.length > maxCharacters) return undefined;
  const parts = jwt.split('.');
  const header = readPart(parts[0]);
  const claims = readPart(parts[1]);
  return parts.length === 3 && header && claims ? { header, claims } : undefined;
}

/** Left half of the hash of an access token (OpenID Connect Core 1.0 section 3.1.3.6). */
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

/** For this client alone, or for others too where it says that it was issued to this one. */
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

/** The login is as young as was asked for (OpenID Connect Core 1.0 sections 2 and 3.1.3.7, rule 13). */
const loginAge: JwtCheck = (
  { claims: { auth_time: at } },
  { loggedInSince, mayLackAuthTime, nowSeconds },
) => {
  if (loggedInSince === undefined) return false;
  if (at === undefined) return !mayLackAuthTime && 'jwt_auth_time_missing';
  if (!isTime(at)) return 'jwt_claims';
  // A time in milliseconds would make every login a young one.
  if (at > nowSeconds + skewSeconds) return 'jwt_from_future';
  return at + skewSeconds < loggedInSince && 'jwt_auth_time';
};

const accessTokenBinding: JwtCheck = ({ header, claims: { at_hash: hash } }, { accessToken }) =>
  hash !== undefined &&
  accessToken !== undefined &&
  hash !== accessTokenHash(accessToken, header.alg) &&
  'jwt_access_token';

/** An ID token has to pass these, and its signature (OpenID Connect Core 1.0 section 3.1.3.7; T-085). */
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

/** The event a logout token is about. */
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

const isLogoutToken: JwtCheck = ({ header: { typ }, claims: { events } }) =>
  // The type is only recommended; any other is that of another kind of token.
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

/** A logout token has to pass these, and its signature (OpenID Connect Back-Channel Logout 1.0 section 2.6; T-091). */
export const logoutTokenChecks: readonly JwtCheck[] = [
  algorithm,
  isLogoutToken,
  noNonce,
  issuer,
  audience,
  times,
  aboutSomebody,
];

/** @returns the first fault that checks find; undefined where they find none */
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
