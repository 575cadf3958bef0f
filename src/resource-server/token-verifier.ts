import { type Actor, type AuthInfo, type CallerDetails, readActors } from '../oauth/auth-info.ts';

/** Verifies access tokens. */
export interface TokenVerifier {
  /**
   * Returns the caller, or undefined for every token that is not valid now, whatever the reason: a client can do
   * nothing with the difference. The caller of this function compares the audience.
   */
  verify(token: string): Promise<AuthInfo | undefined>;
}

/** A stored access token of the issuer of this installation. */
export interface AccessTokenRecord {
  clientId: string;
  subject: string;
  scopes: readonly string[];
  audience: string;
  /** Epoch seconds. */
  issuedAt: number;
  /** Epoch seconds. */
  expiresAt: number;
  grantId?: string;
  /** The upstream session that the grant depends on; absent if there is none. */
  bond?: { linkId: string };
  /** Stored id of the token; never the token itself. */
  tokenId?: string;
  /** JWK thumbprint of the key the token is bound to; absent for a bearer token. */
  keyThumbprint?: string;
  /** The party that acts for the subject; absent if there is none. */
  actor?: Actor;
  /** Data about the account, the client and the login; absent if nothing is known. */
  details?: CallerDetails;
}

/** The store of issued access tokens. */
export interface AccessTokenSource {
  /**
   * Returns the record of a token; undefined if it is unknown or revoked. Records are immutable: the same object means
   * the same record.
   * @throws TokenStatusUnknown if the validity cannot be determined
   */
  find(token: string): Promise<AccessTokenRecord | undefined>;
}

/** Reasons why a known token is not valid now. */
export type TokenFault =
  | 'expired'
  | 'expiry_is_no_time'
  | 'expiry_too_far'
  | 'issue_is_no_time'
  | 'issued_in_the_future';

/** Accepted clock skew of the issuer, in seconds (T-097). */
const maxClockSkewSeconds = 60;

/** Maximum lifetime of an access token, in seconds; a longer one is a mistake. */
const maxLifetimeSeconds = 366 * 24 * 60 * 60;

/** Returns the fault of a token record, or undefined. */
type TokenCheck = (record: AccessTokenRecord, nowSeconds: number) => TokenFault | undefined;

const checks: readonly TokenCheck[] = [
  ({ expiresAt }) => (isTime(expiresAt) ? undefined : 'expiry_is_no_time'),
  ({ issuedAt }) => (isTime(issuedAt) ? undefined : 'issue_is_no_time'),
  ({ expiresAt }, now) => (expiresAt <= now ? 'expired' : undefined),
  ({ expiresAt }, now) => (expiresAt > now + maxLifetimeSeconds ? 'expiry_too_far' : undefined),
  ({ issuedAt }, now) => (issuedAt > now + maxClockSkewSeconds ? 'issued_in_the_future' : undefined),
];

function isTime(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds > 0;
}

/**
 * Verifies the times of a token record.
 * @param nowSeconds epoch seconds
 * @returns the first fault; undefined for a valid token
 * @see RFC 6750 section 3.1 ("expired, revoked, malformed, or invalid for other reasons")
 */
export function checkTokenRecord(record: AccessTokenRecord, nowSeconds: number): TokenFault | undefined {
  for (const check of checks) {
    const fault = check(record, nowSeconds);
    if (fault) return fault;
  }
  return undefined;
}

/**
 * Creates the verifier for tokens of the issuer in the same process. Only a token that the source knows is valid;
 * nothing is read from the token itself (T-098, T-099, T-100). All requests with a token get the same caller object, so
 * that derived values can be cached by it.
 * @param source issued tokens
 * @param issuer the issuer of all tokens of the source
 * @param now epoch seconds
 */
export function createLocalVerifier({
  source,
  issuer,
  now,
}: {
  source: AccessTokenSource;
  issuer: string;
  now: () => number;
}): TokenVerifier {
  const callers = new WeakMap<AccessTokenRecord, AuthInfo>();
  const callerOf = (record: AccessTokenRecord | undefined): AuthInfo | undefined => {
    if (!record || checkTokenRecord(record, now())) return undefined;
    let caller = callers.get(record);
    if (caller === undefined) {
      caller = describeCaller(record, issuer);
      callers.set(record, caller);
    }
    return caller;
  };
  return { verify: async (token) => callerOf(await source.find(token)) };
}

/** Frozen, because all requests with the token share the object. */
function describeCaller(record: AccessTokenRecord, issuer: string): AuthInfo {
  const { subject, clientId, scopes, audience, expiresAt, grantId, bond, tokenId, keyThumbprint } = record;
  return Object.freeze({
    ...record.details,
    issuer,
    subject,
    clientId,
    scopes: Object.freeze([...scopes]),
    audience,
    expiresAt,
    ...(grantId === undefined ? {} : { grantId }),
    ...(bond === undefined ? {} : { upstreamLinkId: bond.linkId }),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(keyThumbprint === undefined ? {} : { keyThumbprint }),
    ...readActors(record.actor),
  });
}
