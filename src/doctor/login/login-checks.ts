import type { Check } from '../check.ts';
import { basicEncodingCheck, clientAuthenticationCheck } from './client-authentication-checks.ts';
import {
  freePortCheck,
  goodRequestCheck,
  pkceCheck,
  plainChallengeCheck,
  redirectUriCheck,
  unknownResourceCheck,
} from './request-checks.ts';
import { issuerCheck, stateCheck } from './response-checks.ts';
import {
  redemptionCheck,
  refreshTokenCheck,
  scopeCheck,
  tokenErrorCheck,
  tokenResponseCheck,
} from './token-response-checks.ts';

/** The section "login" as far as it spoils nothing, in the order in which its checks run. */
export const loginChecks: readonly Check[] = [
  goodRequestCheck,
  freePortCheck,
  pkceCheck,
  plainChallengeCheck,
  redirectUriCheck,
  unknownResourceCheck,
  tokenErrorCheck,
  clientAuthenticationCheck,
  basicEncodingCheck,
  stateCheck,
  issuerCheck,
  redemptionCheck,
  tokenResponseCheck,
  scopeCheck,
  refreshTokenCheck,
];
