import type { Check } from '../check.ts';
import { accessCheck } from './access-check.ts';
import { audienceCheck, claimsCheck } from './claims-checks.ts';
import { clockCheck } from './clock-check.ts';
import { dpopCheck } from './dpop-check.ts';
import { otherAudienceCheck } from './other-audience-check.ts';
import { revocationCheck } from './revocation-check.ts';
import { scopeChallengeCheck, stepUpCheck } from './scope-checks.ts';
import { sessionCheck } from './session-check.ts';

/** The section "token", in the order in which its checks run: before the login checks that spend the tokens. */
export const tokenChecks: readonly Check[] = [
  claimsCheck,
  audienceCheck,
  clockCheck,
  accessCheck,
  sessionCheck,
  scopeChallengeCheck,
  stepUpCheck,
  otherAudienceCheck,
  dpopCheck,
  revocationCheck,
];
