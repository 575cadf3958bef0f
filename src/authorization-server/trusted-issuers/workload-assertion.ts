import {
  type AssertionCheck,
  audienceCheck,
  signatureChecks,
  subjectCheck,
  timeChecks,
} from './assertion.ts';

/** Longest life of one, in seconds: that of the longest token that Kubernetes projects into a pod. */
const lifetimeSeconds = 86_400;

/** What platforms call their tokens: nothing (Kubernetes), JWT (GitHub, SPIFFE) or JOSE (SPIFFE). */
const types = ['jwt', 'jose'];

/**
 * The checks of a workload's assertion that need neither key nor database, in order. A platform gives a workload one token
 * for a while, so that it is sent more than once: no `jti` is used up (A13-10).
 * @see RFC 7523 section 3; SPIFFE JWT-SVID sections 2 to 4
 */
export const workloadChecks: readonly AssertionCheck[] = [
  ({ header }) =>
    header.typ !== undefined &&
    !types.includes(String(header.typ).toLowerCase()) &&
    'is a token of another type',
  ...signatureChecks,
  audienceCheck,
  subjectCheck,
  ...timeChecks(lifetimeSeconds),
];
