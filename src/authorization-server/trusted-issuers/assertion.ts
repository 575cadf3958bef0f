import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { privateKeyAlgorithms } from '../../oauth/signature-algorithms.ts';

/** An assertion that was taken apart; nothing in it is to be believed yet. */
export interface Assertion {
  header: ProtectedHeaderParameters;
  claims: JWTPayload;
}

/** What an assertion is compared with. */
export interface AssertionContext {
  /** Our issuer: the one audience. */
  issuer: string;
  /** The client that authenticated itself for this request. */
  clientId: string;
  /** Epoch seconds. */
  nowSeconds: number;
}

/** One check of an assertion: what is wrong, as the end of a sentence that begins with "the assertion". */
export type AssertionCheck = (assertion: Assertion, context: AssertionContext) => string | false | undefined;

/** Longest assertion looked at, in characters; those of GitHub and Kubernetes have some 1500. */
const maxCharacters = 16_384;

/** How far the clocks of an issuer and of this machine may be apart. */
export const skewSeconds = 15;

/** Longest id or subject taken, in characters (RFC 7519 leaves that open; OpenID Connect gives a subject 255). */
const maxNameCharacters = 255;

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** @returns whether a claim is a name: text, not empty, not endless */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxNameCharacters;
}

/** Takes an assertion apart. @returns undefined for what is no JWT of a sensible size */
export function readAssertion(jwt: string): Assertion | undefined {
  if (jwt.length > maxCharacters) return undefined;
  try {
    return { header: decodeProtectedHeader(jwt), claims: decodeJwt(jwt) };
  } catch {
    return undefined;
  }
}

/** Signed as an issuer signs: with a key that only it has, and that we know from elsewhere (RFC 8725 sections 3.1, 3.10). */
export const signatureChecks: readonly AssertionCheck[] = [
  ({ header }) =>
    !privateKeyAlgorithms.some((alg) => alg === header.alg) &&
    `must be signed with one of ${privateKeyAlgorithms.join(', ')}`,
  ({ header }) =>
    ['jku', 'jwk', 'x5u', 'crit'].some((member) => member in header) &&
    'must not bring or point to keys: only those of the issuer count',
];

/** Meant for us alone: who gets it elsewhere cannot use it here, and the other way round (RFC 7523 section 3). */
export const audienceCheck: AssertionCheck = ({ claims: { aud } }, { issuer }) =>
  (Array.isArray(aud) ? aud.length !== 1 || aud[0] !== issuer : aud !== issuer) &&
  `must be meant for ${issuer} alone (aud)`;

/** About somebody: without a subject nobody is let in (RFC 7523 section 3). */
export const subjectCheck: AssertionCheck = ({ claims: { sub } }) => !isName(sub) && 'has no usable sub';

/** The thumbprint of the key that an assertion is bound to; undefined if it names none, or anything beside. */
export function keyOfAssertion({ claims: { cnf } }: Assertion): string | undefined {
  if (typeof cnf !== 'object' || cnf === null || Object.keys(cnf).length !== 1) return undefined;
  const { jkt } = cnf as { jkt?: unknown };
  return isName(jkt) ? jkt : undefined;
}

/** Not bound to anything that we cannot check: an assertion bound to a key is none for any bearer (RFC 7800 section 3.1). */
export const bindingCheck: AssertionCheck = (assertion) =>
  assertion.claims.cnf !== undefined &&
  keyOfAssertion(assertion) === undefined &&
  'is bound to a key in a way that is not known here (cnf)';

/**
 * In force, not for longer than its kind needs, and no older than that: without the last, an issuer could make tokens of
 * an old login look fresh by `exp` alone (FA-16, T-216).
 * @param lifetimeSeconds how far `exp` may be ahead, and `iat` behind
 */
export function timeChecks(lifetimeSeconds: number): readonly AssertionCheck[] {
  return [
    ({ claims }) => !isTime(claims.exp) && 'has no exp',
    ({ claims }, { nowSeconds }) => Number(claims.exp) + skewSeconds <= nowSeconds && 'has expired',
    ({ claims }, { nowSeconds }) =>
      Number(claims.exp) > nowSeconds + lifetimeSeconds + skewSeconds &&
      `must not live longer than ${lifetimeSeconds} seconds`,
    ({ claims }) => !isTime(claims.iat) && 'has no iat',
    ({ claims }, { nowSeconds }) =>
      Number(claims.iat) + lifetimeSeconds + skewSeconds < nowSeconds &&
      `was issued more than ${lifetimeSeconds} seconds ago (iat)`,
    ({ claims }, { nowSeconds }) =>
      [claims.nbf, claims.iat].some(
        (time) => time !== undefined && (!isTime(time) || time > nowSeconds + skewSeconds),
      ) && 'is from the future (nbf, iat)',
  ];
}

/** @returns the first fault that checks find; undefined where they find none */
export function findFault(
  checks: readonly AssertionCheck[],
  assertion: Assertion,
  context: AssertionContext,
): string | undefined {
  for (const check of checks) {
    const fault = check(assertion, context);
    if (fault) return fault;
  }
  return undefined;
}
