import type { ClientProfile } from '../oauth/client-profiles/client-profile.ts';
import type { Check } from './check.ts';
import { discoveryChecks } from './issuer/discovery-checks.ts';
import { endpointChecks } from './issuer/endpoint-checks.ts';
import { keyChecks, supportChecks } from './issuer/support-checks.ts';
import { basicEncodingCheck, clientAuthenticationCheck } from './login/client-authentication-checks.ts';
import {
  freePortCheck,
  goodRequestCheck,
  issuerCheck,
  pkceCheck,
  plainChallengeCheck,
  redirectUriCheck,
  stateCheck,
  unknownResourceCheck,
} from './login/request-checks.ts';
import {
  redemptionCheck,
  refreshTokenCheck,
  scopeCheck,
  tokenErrorCheck,
  tokenResponseCheck,
} from './login/token-response-checks.ts';
import type { Machine } from './machine/machine.ts';
import { machineChecks } from './machine/machine-checks.ts';
import { profileChecks } from './profiles/profile-checks.ts';
import type { ProxyOptions } from './proxy/mcp-caller.ts';
import { proxyChecks } from './proxy/proxy-checks.ts';
import { answerChecks } from './reach/answer-checks.ts';
import { badTokenChecks } from './reach/bad-token-checks.ts';
import { challengeChecks, challengeOnSuccess } from './reach/challenge-checks.ts';
import { connectionChecks } from './reach/connection-checks.ts';
import { corsChecks } from './reach/cors-checks.ts';
import { tlsChecks } from './reach/tls-checks.ts';
import {
  registeredMethodCheck,
  registeredRedirectsCheck,
  registrationAnswerCheck,
} from './registration/answer-checks.ts';
import {
  documentsFetchedCheck,
  metadataDocumentCheck,
  metadataDocumentReadCheck,
} from './registration/metadata-document-checks.ts';
import {
  applicationTypeCheck,
  loopbackPortCheck,
  loopbackPortlessCheck,
} from './registration/native-checks.ts';
import { clientNameCheck, keptClientCheck, plainRedirectCheck } from './registration/policy-checks.ts';
import { contentChecks } from './resource/content-checks.ts';
import { documentChecks } from './resource/document-checks.ts';
import { accessCheck, sessionCheck } from './token/access-check.ts';
import { audienceCheck, claimsCheck, clockCheck } from './token/claims-checks.ts';
import { scopeChallengeCheck, stepUpCheck } from './token/scope-checks.ts';
import { spendingChecks } from './token/spending-checks.ts';

/** Checks of the metadata of the authorization server. */
export const issuerChecks: readonly Check[] = [
  ...discoveryChecks,
  ...endpointChecks,
  ...supportChecks,
  ...keyChecks,
];

/** Checks of the protected resource metadata. */
export const resourceChecks: readonly Check[] = [...documentChecks, ...contentChecks];

/** Checks from the URL to the first 401 response. */
export const reachChecks: readonly Check[] = [
  ...connectionChecks,
  ...tlsChecks,
  ...answerChecks,
  ...challengeChecks,
  ...badTokenChecks,
  ...corsChecks,
];

/** Checks that write nothing at the server, in their order. */
export const passiveChecks: readonly Check[] = [
  ...reachChecks,
  ...resourceChecks,
  ...issuerChecks,
  challengeOnSuccess,
];

/** Checks of client registration, in their order. */
export const registrationChecks: readonly Check[] = [
  keptClientCheck,
  metadataDocumentCheck,
  loopbackPortCheck,
  applicationTypeCheck,
  loopbackPortlessCheck,
  registrationAnswerCheck,
  registeredRedirectsCheck,
  registeredMethodCheck,
  plainRedirectCheck,
  clientNameCheck,
  metadataDocumentReadCheck,
  documentsFetchedCheck,
];

/** Checks of tokens that spend nothing, in their order. */
export const tokenChecks: readonly Check[] = [
  claimsCheck,
  audienceCheck,
  clockCheck,
  accessCheck,
  sessionCheck,
  scopeChallengeCheck,
  stepUpCheck,
];

/** Checks of a login that spend nothing, in their order. */
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

/** Input of the checks besides the server. */
interface CheckOptions {
  machine: Machine;
  /** The callback port that the user has chosen. */
  callbackPort?: number | undefined;
  /** Options of the checks of proxies, which take a minute; they are left out if this is absent. */
  proxy?: ProxyOptions | undefined;
  /** Known clients that are replayed; none by default. */
  clients?: readonly ClientProfile[] | undefined;
}

/** Returns all checks in the order in which they run: without a login first, and those that spend tokens last. */
export function allChecks({ machine, callbackPort, proxy, clients = [] }: CheckOptions): readonly Check[] {
  return [
    ...passiveChecks,
    ...profileChecks(clients),
    ...machineChecks(machine, callbackPort === undefined ? {} : { callbackPort }),
    ...registrationChecks,
    ...loginChecks,
    ...tokenChecks,
    ...(proxy ? proxyChecks(proxy) : []),
    ...spendingChecks,
  ];
}
