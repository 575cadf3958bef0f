import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { CompactJWSHeaderParameters, JWK } from 'jose';
import { proofAlgorithms } from '../../oauth/signature-algorithms.ts';

/** Reasons to reject a DPoP proof. */
export type ProofFault =
  | 'no_proof'
  | 'several_proofs'
  | 'too_long'
  | 'no_jwt'
  | 'wrong_type'
  | 'algorithm_not_allowed'
  | 'no_public_key'
  | 'critical_extension'
  | 'bad_signature'
  | 'other_method'
  | 'other_url'
  | 'no_id'
  | 'no_time'
  | 'not_recent'
  | 'no_nonce'
  | 'stale_nonce'
  | 'other_token'
  | 'other_key'
  | 'used_before';

/** The header of a proof before its signature is verified. */
export type ProofHeader = Partial<CompactJWSHeaderParameters> & { jwk?: unknown };

/** The claims of a proof. */
export type ProofClaims = Readonly<Record<string, unknown>>;

/** Expected properties of a proof. */
export interface ProofExpectation {
  method: string;
  /** Public URL of the request; query and fragment are ignored. */
  url: string;
  accessToken: string;
  nonces: DpopNonces;
  /** True if a proof needs a nonce of this server, however recent it is. */
  requireNonce: boolean;
  /** Epoch seconds. */
  nowSeconds: number;
}

/** Accepted clock difference of a proof without a nonce, in seconds, in both directions. */
export const proofWindowSeconds = 60;

/** Maximum length of a stored `jti`, in characters. */
const maxIdLength = 256;

/** Members of a JWK that hold a secret (RFC 7518 sections 6.2.2, 6.3.2 and 6.4; RFC 8037 section 2). */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** A check of the header; returns the fault, or undefined. */
const headerChecks: readonly ((header: ProofHeader) => ProofFault | undefined)[] = [
  ({ typ }) => (typ === 'dpop+jwt' ? undefined : 'wrong_type'),
  ({ alg }) => (proofAlgorithms.some((known) => known === alg) ? undefined : 'algorithm_not_allowed'),
  ({ crit }) => (crit === undefined ? undefined : 'critical_extension'),
  ({ jwk }) => (isPublicKey(jwk) ? undefined : 'no_public_key'),
];

/** A check of the claims; returns the fault, or undefined. */
const claimChecks: readonly ((claims: ProofClaims, expected: ProofExpectation) => ProofFault | undefined)[] =
  [
    ({ htm }, { method }) => (htm === method ? undefined : 'other_method'),
    ({ htu }, { url }) => (isSamePlace(htu, url) ? undefined : 'other_url'),
    ({ jti }) => (isText(jti) && jti.length <= maxIdLength ? undefined : 'no_id'),
    ({ iat }) => (Number.isSafeInteger(iat) ? undefined : 'no_time'),
    ({ ath }, { accessToken }) => (ath === hashAccessToken(accessToken) ? undefined : 'other_token'),
    ({ nonce }, { requireNonce }) => (nonce === undefined && requireNonce ? 'no_nonce' : undefined),
    ({ nonce, iat }, { nowSeconds }) =>
      nonce !== undefined || Math.abs(nowSeconds - Number(iat)) <= proofWindowSeconds
        ? undefined
        : 'not_recent',
    ({ nonce }, { nonces }) =>
      nonce === undefined || (typeof nonce === 'string' && nonces.accepts(nonce)) ? undefined : 'stale_nonce',
  ];

/**
 * Verifies the header of a proof, in this order: type, algorithm, no critical extension, a public key.
 * @returns the first fault
 * @see RFC 9449 section 4.3, checks 4, 5 and 7; RFC 7515 section 4.1.11
 */
export function checkProofHeader(header: ProofHeader): ProofFault | undefined {
  return firstOf(headerChecks, (check) => check(header));
}

/**
 * Verifies the claims of a proof, in this order: method, URL, id, time, token, nonce. A valid nonce makes the proof as
 * recent as the nonce, whatever the clock of the client says.
 * @returns the first fault
 * @see RFC 9449 section 4.3, checks 8 to 12, and section 11.1
 */
export function checkProofClaims(claims: ProofClaims, expected: ProofExpectation): ProofFault | undefined {
  return firstOf(claimChecks, (check) => check(claims, expected));
}

function firstOf<T>(checks: readonly T[], run: (check: T) => ProofFault | undefined): ProofFault | undefined {
  for (const check of checks) {
    const fault = run(check);
    if (fault) return fault;
  }
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isPublicKey(jwk: unknown): jwk is JWK {
  if (typeof jwk !== 'object' || jwk === null) return false;
  const { kty } = jwk as JWK;
  return (kty === 'EC' || kty === 'OKP') && !secretMembers.some((member) => Object.hasOwn(jwk, member));
}

/** Returns whether two URLs are equal after scheme-based normalization, without query and fragment. */
function isSamePlace(htu: unknown, url: string): boolean {
  const claimed = typeof htu === 'string' ? URL.parse(htu) : null;
  const asked = URL.parse(url);
  if (!claimed || !asked) return false;
  for (const place of [claimed, asked]) {
    place.search = '';
    place.hash = '';
  }
  return claimed.href === asked.href;
}

/**
 * Returns the `ath` hash of an access token.
 * @see RFC 9449 section 4.2
 */
export function hashAccessToken(accessToken: string): string {
  return createHash('sha256').update(accessToken).digest('base64url');
}

/** Stateless DPoP nonces of this server. */
export interface DpopNonces {
  /** Returns the present nonce. */
  current(): string;
  /** Returns whether a nonce was issued by this server and has not expired. */
  accepts(nonce: string): boolean;
}

/** Period of one nonce, in seconds. */
const stepSeconds = 60;

/** Number of later periods in which a nonce is accepted. */
const acceptedSteps = 4;

/** Lifetime of a nonce from its first issue, in seconds. */
export const nonceLifeSeconds = stepSeconds * (acceptedSteps + 1);

/**
 * Creates nonces derived from a key and the time: every process with the key accepts those of the others, nobody
 * without it can predict one, and nothing is stored.
 * @param keys returns the present keys, each 32 bytes or more, as text; the first one creates nonces, all are accepted
 * @param now epoch seconds
 * @see RFC 9449 sections 8 and 9
 */
export function createDpopNonces(keys: () => readonly string[], now: () => number): DpopNonces {
  const step = (): number => Math.floor(now() / stepSeconds);
  const nonceOf = (at: number, key = ''): string =>
    createHmac('sha256', key).update(`dpop ${at}`).digest('base64url');
  const backSteps = Array.from({ length: acceptedSteps + 1 }, (_, back) => back);
  return {
    current: () => nonceOf(step(), keys()[0]),
    accepts(nonce) {
      const at = step();
      const given = Buffer.from(nonce);
      return keys()
        .flatMap((key) => backSteps.map((back) => Buffer.from(nonceOf(at - back, key))))
        .some((known) => known.length === given.length && timingSafeEqual(known, given));
    },
  };
}

/** Detects replayed proofs. */
export interface UsedProofs {
  /**
   * Records the use of a proof.
   * @param id identifies the proof and its key
   * @param expiresAt end of the record, epoch seconds
   * @returns true for the first use; of concurrent callers one gets true
   */
  useOnce(id: string, expiresAt: number): Promise<boolean>;
}

/** Maximum number of stored proofs, about 10 MB. */
const defaultMaxKept = 100_000;

/**
 * Creates an in-memory replay detection for a resource server that is a single process. If it is full of unexpired
 * proofs, new ones are rejected: dropping one would allow its replay.
 * @param now epoch seconds
 * @param maxKept maximum number of stored proofs
 * @see RFC 9449 section 11.1
 */
export function createUsedProofs(now: () => number, maxKept = defaultMaxKept): UsedProofs {
  const expiries = new Map<string, number>();
  const forgetExpired = (): void => {
    for (const [id, expiresAt] of expiries) {
      if (expiresAt > now()) return;
      expiries.delete(id);
    }
  };
  return {
    async useOnce(id, expiresAt) {
      forgetExpired();
      if (expiries.has(id) || expiries.size >= maxKept) return false;
      expiries.set(id, expiresAt);
      return true;
    },
  };
}
