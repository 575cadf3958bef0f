import type { Check } from '../check.ts';
import { answerChecks } from './answer-checks.ts';
import { badTokenChecks } from './bad-token-checks.ts';
import { challengeChecks } from './challenge-checks.ts';
import { connectionChecks } from './connection-checks.ts';
import { corsChecks } from './cors-checks.ts';
import { tlsChecks } from './tls-checks.ts';

/** Section "reach": from the URL to the first refusal. */
export const reachChecks: readonly Check[] = [
  ...connectionChecks,
  ...tlsChecks,
  ...answerChecks,
  ...challengeChecks,
  ...badTokenChecks,
  ...corsChecks,
];
