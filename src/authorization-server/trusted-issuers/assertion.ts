import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { privateKeyAlgorithms } from '../../oauth/signature-algorithms.ts';

/** An assertion that was taken apart; nothing in it is to be believed yet. */
export interface Assertion {
  header: ProtectedHeaderParameters;
  claims: JWTPayload;
}

/** Expected values that an assertion is compared with. */
export interface AssertionContext {
  /** Issuer identifier of this server: the only accepted audience. */
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

/** Allowed clock difference between an issuer and this machine, in seconds. */
export const skewSeconds = 15;

/** Longest id or subject taken, in characters (RFC 7519 leaves that open; OpenID Connect gives a subject 255). */
const maxNameCharacters = 255;

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** @returns whether a claim is a name: text, not empty, not endless */
function isName(value: unknown): value is string {
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

/**
 * The issuer has signed it: with a private key of its own, whose public key is configured or published by the issuer
 * (RFC 8725 sections 3.1, 3.10).
 */
const signatureChecks: readonly AssertionCheck[] = [
  ({ header }) =>
    !privateKeyAlgorithms.some((alg) => alg === header.alg) &&
    `must be signed with one of ${privateKeyAlgorithms.join(', ')}`,
  ({ header }) =>
    ['jku', 'jwk', 'x5u', 'crit'].some((member) => member in header) &&
    'must not bring or point to keys: only those of the issuer count',
];

/** Meant for us alone: who gets it elsewhere cannot use it here, and the other way round (RFC 7523 section 3). */
const audienceCheck: AssertionCheck = ({ claims: { aud } }, { issuer }) =>
  (Array.isArray(aud) ? aud.length !== 1 || aud[0] !== issuer : aud !== issuer) &&
  `must be meant for ${issuer} alone (aud)`;

/** It has a subject (RFC 7523 section 3). */
const subjectCheck: AssertionCheck = ({ claims: { sub } }) => !isName(sub) && 'has no usable sub';

/** The thumbprint of the key that an assertion is bound to; undefined if it names none, or anything beside. */
export function keyOfAssertion({ claims: { cnf } }: Assertion): string | undefined {
  if (typeof cnf !== 'object' || cnf === null || Object.keys(cnf).length !== 1) return undefined;
  const { jkt } = cnf as { jkt?: unknown };
  return isName(jkt) ? jkt : undefined;
}

/** Not bound to anything that we cannot check: an assertion bound to a key is none for any bearer (RFC 7800 section 3.1). */
const bindingCheck: AssertionCheck = (assertion) =>
  assertion.claims.cnf !== undefined &&
  keyOfAssertion(assertion) === undefined &&
  'is bound to a key in a way that is not known here (cnf)';

/**
 * It is valid now, and neither its lifetime nor its age exceeds the limit. Without the limit of the age, an issuer
 * could extend `exp` to make assertions of an old login look fresh (FA-16, T-216).
 * @param lifetimeSeconds maximum of `exp` in the future, and of `iat` in the past
 */
function timeChecks(lifetimeSeconds: number): readonly AssertionCheck[] {
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

/** @returns the first fault that checks find; undefined if they find none */
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

/** The type of an identity assertion (ID-JAG); nothing else is one, and it is nothing else (RFC 8725 section 3.11). */
export const identityAssertionType = 'oauth-id-jag+jwt';

/** Longest life of one and highest age, in seconds: it is used once, at once. Twice what identity providers give it. */
const identityLifetimeSeconds = 600;

/**
 * The checks of an identity assertion that need neither key nor database, in order; its type has made it one (A13-08).
 * @see draft-ietf-oauth-identity-assertion-authz-grant section 5; RFC 7523 section 3
 */
export const identityChecks: readonly AssertionCheck[] = [
  ...signatureChecks,
  audienceCheck,
  ({ claims }, { clientId }) => claims.client_id !== clientId && 'was made for another client (client_id)',
  subjectCheck,
  ...timeChecks(identityLifetimeSeconds),
  bindingCheck,
  ({ claims: { scope } }) =>
    scope !== undefined && typeof scope !== 'string' && 'has a scope that is no text',
  ({ claims: { jti } }) => !isName(jti) && 'needs a jti of at most 255 characters',
];

/** Longest life of one and highest age, in seconds: that of the longest token that Kubernetes projects into a pod. */
const workloadLifetimeSeconds = 86_400;

/** Type headers of platform tokens: none (Kubernetes), JWT (GitHub, SPIFFE) or JOSE (SPIFFE). */
const workloadTypes = ['jwt', 'jose'];

/**
 * Claims of ID tokens, each about the login of a person (OpenID Connect Core 1.0 sections 2 and 3.3.2.11). No platform
 * puts them into tokens of workloads. `azp`, `acr`, `email` and `sid` are no marks: platforms send these too.
 */
const personalMarks = ['nonce', 'auth_time', 'at_hash', 'c_hash', 's_hash'] as const;

/**
 * The checks of a workload's assertion that need neither key nor database, in order. A platform gives a workload one token
 * for a while, so that it is sent more than once: no `jti` is used up (A13-10).
 * @see RFC 7523 section 3; SPIFFE JWT-SVID sections 2 to 4
 */
export const workloadChecks: readonly AssertionCheck[] = [
  ({ header }) =>
    header.typ !== undefined &&
    (typeof header.typ !== 'string' || !workloadTypes.includes(header.typ.toLowerCase())) &&
    'is a token of another type',
  ({ claims }) =>
    personalMarks.some((name) => name in claims) &&
    `speaks of the login of a person (${personalMarks.join(', ')}): an ID token is no identity of a workload`,
  ...signatureChecks,
  audienceCheck,
  subjectCheck,
  ...timeChecks(workloadLifetimeSeconds),
  bindingCheck,
];
