import type { Check } from '../check.ts';

/** Checks that look at the first login. */
const withFirst = new Set([
  'LOGIN-STATE',
  'LOGIN-ISS',
  'LOGIN-CODE',
  'LOGIN-TOKEN-RESPONSE',
  'LOGIN-SCOPE',
  'LOGIN-REFRESH-TOKEN',
  'LOGIN-REFRESH',
  'LOGIN-ROTATION',
  'LOGIN-PARALLEL-REFRESH',
  'LOGIN-REUSE',
  'TOKEN-CLAIMS',
  'TOKEN-AUDIENCE',
  'TOKEN-CLOCK',
  'TOKEN-ACCEPTED',
  'TOKEN-SESSION',
]);

/** Checks that spoil a code or tokens, and need a second login for that. */
const withSecond = new Set([
  'LOGIN-VERIFIER',
  'LOGIN-CODE-REDIRECT',
  'LOGIN-CODE-ONCE',
  'LOGIN-CODE-REVOKES',
  'TOKEN-OTHER-AUDIENCE',
  'TOKEN-SCOPE-CHALLENGE',
  'TOKEN-STEP-UP',
  'TOKEN-REVOKED',
  'TOKEN-DPOP',
]);

/**
 * Returns the maximum number of consents, to be announced before an active examination.
 * @param checks the checks that will run
 */
export function countConsents(checks: readonly Pick<Check, 'id'>[]): 0 | 1 | 2 {
  const ids = checks.map(({ id }) => id);
  if (ids.some((id) => withSecond.has(id))) return 2;
  return ids.some((id) => withFirst.has(id)) ? 1 : 0;
}
