import {
  type AssertionCheck,
  audienceCheck,
  bindingCheck,
  isName,
  signatureChecks,
  subjectCheck,
  timeChecks,
} from './assertion.ts';

/** The type of an identity assertion (ID-JAG); nothing else is one, and it is nothing else (RFC 8725 section 3.11). */
export const identityAssertionType = 'oauth-id-jag+jwt';

/** Longest life of one and highest age, in seconds: it is used once, at once. Twice what identity providers give it. */
const lifetimeSeconds = 600;

/**
 * The checks of an identity assertion that need neither key nor database, in order; its type has made it one (A13-08).
 * @see draft-ietf-oauth-identity-assertion-authz-grant section 5; RFC 7523 section 3
 */
export const identityChecks: readonly AssertionCheck[] = [
  ...signatureChecks,
  audienceCheck,
  ({ claims }, { clientId }) => claims.client_id !== clientId && 'was made for another client (client_id)',
  subjectCheck,
  ...timeChecks(lifetimeSeconds),
  bindingCheck,
  ({ claims: { scope } }) =>
    scope !== undefined && typeof scope !== 'string' && 'has a scope that is no text',
  ({ claims: { jti } }) => !isName(jti) && 'needs a jti of at most 255 characters',
];
