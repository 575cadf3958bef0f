/** The client: from the URL of an MCP server to authorized requests, on any runtime with `fetch` and Web Crypto. */
export {
  chooseScopes,
  finishAuthorization,
  type PendingAuthorization,
  processAuthorizationResponse,
  startAuthorization,
} from './authorization.ts';
export type { UsableAuthorizationServer } from './authorization-server.ts';
export {
  ClientError,
  type ClientErrorReason,
  DiscoveryError,
  InsufficientScopeError,
  LoginRequiredError,
} from './client-error.ts';
export type { ClientContext, Fetch } from './context.ts';
export {
  type Credential,
  type CredentialIssuer,
  type CredentialStore,
  credentialKey,
  type Registration,
} from './credential-store.ts';
export { type DiscoveredServer, type DiscoveryOptions, discover } from './discovery.ts';
export { type McpConnectionOptions, withMcpConnection } from './mcp-connection.ts';
export { createMemoryStore } from './memory-store.ts';
export type { UsableProtectedResource } from './protected-resource.ts';
export {
  type GivenClient,
  loopbackRedirectUris,
  obtainRegistration,
  type RegistrationOptions,
  registerDynamically,
} from './registration.ts';
export { isClientKnown } from './registration-check.ts';
export { RestClientTransport, type RestClientTransportOptions } from './rest-transport.ts';
export { revokeCredential } from './revocation.ts';
export { withAuthorization } from './session.ts';
export { freshCredential, refreshAheadSeconds, refreshCredential } from './tokens.ts';
export type { DiscoveryStep } from './trace.ts';
export { requireUrl, type UrlRules } from './url-policy.ts';
