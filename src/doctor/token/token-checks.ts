import type { Check } from '../check.ts';
import { accessCheck } from './access-check.ts';
import { audienceCheck, claimsCheck } from './claims-checks.ts';
import { clockCheck } from './clock-check.ts';
import { scopeChallengeCheck, stepUpCheck } from './scope-checks.ts';
import { sessionCheck } from './session-check.ts';

/** The section "token" as far as it spends nothing, in the order in which its checks run. */
export const tokenChecks: readonly Check[] = [
  claimsCheck,
  audienceCheck,
  clockCheck,
  accessCheck,
  sessionCheck,
  scopeChallengeCheck,
  stepUpCheck,
];
