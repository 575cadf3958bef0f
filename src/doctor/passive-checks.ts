import type { Check } from './check.ts';
import { issuerChecks } from './issuer/issuer-checks.ts';
import { challengeOnSuccess } from './reach/challenge-on-success.ts';
import { reachChecks } from './reach/reach-checks.ts';
import { resourceChecks } from './resource/resource-checks.ts';

/** Checks that write nothing at the server, in order. */
export const passiveChecks: readonly Check[] = [
  ...reachChecks,
  ...resourceChecks,
  ...issuerChecks,
  challengeOnSuccess,
];
