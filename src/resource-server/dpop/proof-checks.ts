import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { CompactJWSHeaderParameters, JWK } from 'jose';
import { proofAlgorithms } from '../../oauth/dpop.ts';

/** Why a proof is not one for this request. */
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

/** The header of a proof, before its signature is looked at. */
export type ProofHeader = Partial<CompactJWSHeaderParameters> & { jwk?: unknown };

/** What a proof says. */
export type ProofClaims = Readonly<Record<string, unknown>>;

/** What a proof has to be for. */
export interface ProofExpectation {
  method: string;
  /** The public URL of the request; query and fragment do not count. */
  url: string;
  accessToken: string;
  nonces: DpopNonces;
  /** Whether a proof needs a nonce of ours, however recent it is. */
  requireNonce: boolean;
  /** Epoch seconds. */
  nowSeconds: number;
}

/** How far from now a proof without a nonce may say it was made, in seconds, to either side. */
export const proofWindowSeconds = 60;

/** Longest `jti` that is remembered, in characters. */
const maxIdLength = 256;

/** Members of a JWK that hold a secret (RFC 7518 sections 6.2.2, 6.3.2 and 6.4; RFC 8037 section 2). */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** One check of the header: the fault, or undefined. */
const headerChecks: readonly ((header: ProofHeader) => ProofFault | undefined)[] = [
  ({ typ }) => (typ === 'dpop+jwt' ? undefined : 'wrong_type'),
  ({ alg }) => (proofAlgorithms.some((known) => known === alg) ? undefined : 'algorithm_not_allowed'),
  ({ crit }) => (crit === undefined ? undefined : 'critical_extension'),
  ({ jwk }) => (isPublicKey(jwk) ? undefined : 'no_public_key'),
];

/** One check of what the proof says: the fault, or undefined. */
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
 * Checks the header of a proof, in this order: type, algorithm, nothing critical, a public key.
 * @returns the first fault
 * @see RFC 9449 section 4.3, checks 4, 5 and 7; RFC 7515 section 4.1.11
 */
export function checkProofHeader(header: ProofHeader): ProofFault | undefined {
  return firstOf(headerChecks, (check) => check(header));
}

/**
 * Checks what a proof says, in this order: method, URL, id, time, token, nonce. A proof with a good nonce is as recent
 * as the nonce, whatever the clock of its maker says.
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

/** Whether two URLs are the same after the normalization of their scheme, without query and fragment. */
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

/** The hash of an access token as `ath` has it. @see RFC 9449 section 4.2 */
export function hashAccessToken(accessToken: string): string {
  return createHash('sha256').update(accessToken).digest('base64url');
}

/** Nonces that this server gives out and knows again without keeping them. */
export interface DpopNonces {
  /** The one to give out now. */
  current(): string;
  /** Whether it is one of ours and not too old. */
  accepts(nonce: string): boolean;
}

/** How long one nonce is given out, in seconds. */
const stepSeconds = 60;

/** How many steps a nonce is accepted after its own. */
const acceptedSteps = 4;

/** How long after it was given out first a nonce is accepted, in seconds. */
export const nonceLifeSeconds = stepSeconds * (acceptedSteps + 1);

/**
 * Creates nonces that follow from a key and the time: every process with the key knows those of the others, nobody
 * without it can tell one in advance, and nothing is stored.
 * @param keys gives the keys of now, each 32 bytes or more, as text; the first makes nonces, every one accepts them
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

/** Proofs that were used already. */
export interface UsedProofs {
  /**
   * Notes that a proof was used, and tells whether this was the first time: of two who ask at once, one is told so.
   * @param id names the proof and its key
   * @param expiresAt epoch seconds; until then it has to be remembered
   */
  useOnce(id: string, expiresAt: number): Promise<boolean>;
}

/** Proofs kept at once, about 10 MB of them. */
const defaultMaxKept = 100_000;

/**
 * Creates a memory of used proofs for a resource server that is one process. When it is full of proofs that could still
 * be repeated, new ones are refused: forgetting one would let it in again.
 * @param now epoch seconds
 * @param maxKept proofs kept at once
 * @see RFC 9449 section 11.1
 */
export function createMemoryOfProofs(now: () => number, maxKept = defaultMaxKept): UsedProofs {
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
