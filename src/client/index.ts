/** The client: from the URL of an MCP server to authorized requests, on any runtime with `fetch` and Web Crypto. */

export { clientCredentialsExtension, enterpriseManagedExtension } from '../oauth/metadata.ts';
export {
  chooseScopes,
  finishAuthorization,
  type PendingAuthorization,
  processAuthorizationResponse,
  startAuthorization,
} from './authorization/authorization.ts';
export type { AuthorizationAgent, AuthorizationRequest } from './authorization/authorization-agent.ts';
export { codeAuthorizer } from './authorization/code-authorizer.ts';
export { type CodeLoginOptions, type CodeLoginProgress, loginWithCode } from './authorization/code-login.ts';
export {
  ClientError,
  type ClientErrorReason,
  DiscoveryError,
  InsufficientScopeError,
  LoginRequiredError,
} from './client-error.ts';
export { readPrivateKey } from './client-key.ts';
export type { ClientContext, Fetch } from './context.ts';
export type { UsableAuthorizationServer } from './discovery/authorization-server.ts';
export { type DiscoveredServer, type DiscoveryOptions, discover } from './discovery/discovery.ts';
export type { DiscoveryStep } from './discovery/discovery-step.ts';
export type { UsableProtectedResource } from './discovery/protected-resource.ts';
export { sendAuthorized } from './dpop/send-authorized.ts';
export type { ClientIdentity } from './exchange.ts';
export { toCurl } from './exchanges/curl.ts';
export type { Exchange, ExchangeRecord } from './exchanges/exchange.ts';
export { type RecordOptions, recordExchanges } from './exchanges/record.ts';
export {
  type ClientCredentialsOptions,
  clientCredentialsAuthorizer,
  loginWithClientCredentials,
} from './grants/client-credentials.ts';
export {
  type DeviceInstructions,
  type DeviceLoginOptions,
  loginWithDevice,
} from './grants/device-authorization.ts';
export {
  type DeviceServerLoginOptions,
  deviceAuthorizer,
  loginToServerWithDevice,
} from './grants/device-login.ts';
export {
  type EnterpriseManagedOptions,
  enterpriseManagedAuthorizer,
  loginEnterpriseManaged,
} from './grants/enterprise-managed.ts';
export type { GrantLogin, GrantLoginOptions } from './grants/grant-login.ts';
export type { IdentityProvider, SubjectToken } from './grants/identity-provider.ts';
export {
  loginWithWorkloadIdentity,
  type WorkloadIdentityOptions,
  workloadIdentityAuthorizer,
} from './grants/workload-identity.ts';
export { type DynamicRegistrationOptions, registerDynamically } from './registration/dynamic-registration.ts';
export { loopbackRedirectUris } from './registration/redirect-uris.ts';
export {
  type GivenClient,
  keepRegistration,
  type ObtainedRegistration,
  obtainRegistration,
  type RegistrationOptions,
} from './registration/registration.ts';
export { isClientKnown } from './registration/registration-check.ts';
export { canonicalServerUrl } from './server-url.ts';
export { createAuthProvider } from './session/auth-provider.ts';
export type { AuthorizationNeed, Authorizer } from './session/authorizer.ts';
export { formerLogin } from './session/former-login.ts';
export { type AuthorizationOptions, withAuthorization } from './session/session.ts';
export {
  type Credential,
  type CredentialIssuer,
  type CredentialStore,
  credentialKey,
  type FormerLogin,
  type LoginChoices,
  type MachineLogin,
  type PrivateJwk,
  type Registration,
} from './stores/credential-store.ts';
export { createMemoryStore } from './stores/memory-store.ts';
export { holderOf, type Renewal, refreshCredential } from './tokens/renewal.ts';
export { revokeCredential } from './tokens/revocation.ts';
export { refreshAheadSeconds } from './tokens/token-response.ts';
export { freshCredential } from './tokens/tokens.ts';
export type { AnswerLimits } from './transports/answer-limits.ts';
export {
  type ConnectServerOptions,
  connectServer,
  type KnownServer,
  type ServerConnection,
} from './transports/connect-server.ts';
export { withMcpConnection } from './transports/mcp-connection.ts';
export { RestClientTransport, type RestClientTransportOptions } from './transports/rest-transport.ts';
export {
  createServerTransport,
  type HttpTransportKind,
  type ServerTransportOptions,
} from './transports/server-transports.ts';
export { requireUrl, type UrlRules } from './url-policy.ts';
