import type { Check } from './check.ts';
import { issuerChecks } from './issuer/issuer-checks.ts';
import { challengeOnSuccess } from './reach/challenge-on-success.ts';
import { reachChecks } from './reach/reach-checks.ts';
import { resourceChecks } from './resource/resource-checks.ts';

/** What can be asked of a server without writing anything there, in the order in which it is asked. */
export const passiveChecks: readonly Check[] = [
  ...reachChecks,
  ...resourceChecks,
  ...issuerChecks,
  challengeOnSuccess,
];
