/** Parts of the client for rooms that examine servers step by step. */

export type { AuthorizationAgent } from './authorization/code-login.ts';
export { createRedaction, marker, markerPattern } from './exchanges/redact.ts';
export { describeFailure } from './network-failure.ts';
export { type ClientIdentity, clientAuthentication } from './oauth-client.ts';
export { loopbackRedirectUris, redirectAllows } from './registration/dynamic-registration.ts';
export { sendAuthorized } from './session/send-authorized.ts';
export type { Credential } from './stores/credential-store.ts';
export { createDpopKey } from './tokens/dpop.ts';
export { refreshCredential } from './tokens/renewal.ts';
