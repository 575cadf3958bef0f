import {
  type AssertionCheck,
  audienceCheck,
  bindingCheck,
  signatureChecks,
  subjectCheck,
  timeChecks,
} from './assertion.ts';

/** Longest life of one and highest age, in seconds: that of the longest token that Kubernetes projects into a pod. */
const lifetimeSeconds = 86_400;

/** What platforms call their tokens: nothing (Kubernetes), JWT (GitHub, SPIFFE) or JOSE (SPIFFE). */
const types = ['jwt', 'jose'];

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
    (typeof header.typ !== 'string' || !types.includes(header.typ.toLowerCase())) &&
    'is a token of another type',
  ({ claims }) =>
    personalMarks.some((name) => name in claims) &&
    `speaks of the login of a person (${personalMarks.join(', ')}): an ID token is no identity of a workload`,
  ...signatureChecks,
  audienceCheck,
  subjectCheck,
  ...timeChecks(lifetimeSeconds),
  bindingCheck,
];
