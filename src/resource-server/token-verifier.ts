import type { AuthInfo } from '../oauth/auth-info.ts';

/** Turns a token into who is calling. */
export interface TokenVerifier {
  /**
   * Gives the caller, or undefined for every token that is not good now, whatever the reason: a client can do
   * nothing with the difference. Whether the token is meant for a resource is compared by who asks.
   */
  verify(token: string): Promise<AuthInfo | undefined>;
}

/** What the issuer of this installation knows of an access token. */
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
  /** The login at an upstream that the grant hangs on; absent where it hangs on none. */
  bond?: { linkId: string };
  /** The name under which the token is stored; never the token. */
  tokenId?: string;
  /** The key the token is bound to, by its JWK thumbprint; absent for a bearer token. */
  keyThumbprint?: string;
}

/** Where issued access tokens are found. */
export interface AccessTokenSource {
  /**
   * Gives what was issued under this token value; undefined for a token that is unknown or revoked. Whoever gets the
   * same object twice may take it for the same record: it is never changed.
   * @throws StandingUnknown where nobody can tell whether it is good
   */
  find(token: string): Promise<AccessTokenRecord | undefined>;
}

/** Why a known token is not good now. */
export type TokenFault =
  | 'expired'
  | 'expiry_is_no_time'
  | 'expiry_too_far'
  | 'issue_is_no_time'
  | 'issued_in_the_future';

/** How far the issuer's clock may run ahead of ours, in seconds (T-097). */
const maxClockSkewSeconds = 60;

/** An access token that lives longer than this, in seconds, is a mistake, not a token. */
const maxLifetimeSeconds = 366 * 24 * 60 * 60;

/** One check of a token record: the fault, or undefined. */
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
 * Checks the times of a token record.
 * @param nowSeconds epoch seconds
 * @returns the first fault, or undefined for a token that is good now
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
 * Creates the verifier for tokens of the issuer in the same process. Only what the source knows is a token; nothing is
 * read out of the token itself (T-098, T-099, T-100).
 * A caller is one and the same object for all requests with a token, so that what is derived from it can be kept.
 * @param source issued tokens
 * @param issuer the issuer every token of the source belongs to
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

/** Frozen, because all requests with the token are handed the same object. */
function describeCaller(record: AccessTokenRecord, issuer: string): AuthInfo {
  const { subject, clientId, scopes, audience, expiresAt, grantId, bond, tokenId, keyThumbprint } = record;
  return Object.freeze({
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
  });
}
