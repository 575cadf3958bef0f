import type { Check } from '../check.ts';
import { codeOnceCheck, codeRedirectCheck, codeRevokesCheck, verifierCheck } from '../login/code-checks.ts';
import { parallelRefreshCheck, refreshCheck, reuseCheck, rotationCheck } from '../login/refresh-checks.ts';
import { dpopCheck } from './dpop-check.ts';
import { otherAudienceCheck } from './other-audience-check.ts';
import { revocationCheck } from './revocation-check.ts';

/**
 * Checks that spend codes and tokens: they run last, and in this order. The first login is refreshed, and then ended by
 * the reuse of a refresh token; what comes after looks first whether the second is alive, as servers may keep one grant
 * for both.
 */
export const spendingChecks: readonly Check[] = [
  verifierCheck,
  codeRedirectCheck,
  refreshCheck,
  rotationCheck,
  parallelRefreshCheck,
  reuseCheck,
  dpopCheck,
  otherAudienceCheck,
  revocationCheck,
  codeOnceCheck,
  codeRevokesCheck,
];
