/** The client: from the URL of an MCP server to authorized requests, on any runtime with `fetch` and Web Crypto. */

export { clientCredentialsExtension, enterpriseManagedExtension } from '../oauth/metadata.ts';
export {
  chooseScopes,
  finishAuthorization,
  type PendingAuthorization,
  processAuthorizationResponse,
  startAuthorization,
} from './authorization/authorization.ts';
export type { AuthorizationAgent, AuthorizationRequest } from './authorization/code-login.ts';
export {
  type CodeLoginOptions,
  type CodeLoginProgress,
  codeAuthorizer,
  loginWithCode,
} from './authorization/code-login.ts';
export {
  ClientError,
  type ClientErrorReason,
  DiscoveryError,
  type DiscoveryStep,
  InsufficientScopeError,
  LoginRequiredError,
} from './client-error.ts';
export { readPrivateKey } from './client-key.ts';
export type { ClientContext, Fetch } from './context.ts';
export type { UsableAuthorizationServer } from './discovery/authorization-server.ts';
export { type DiscoveredServer, type DiscoveryOptions, discover } from './discovery/discovery.ts';
export type { UsableProtectedResource } from './discovery/protected-resource.ts';
export { toCurl } from './exchanges/curl.ts';
export type { Exchange, ExchangeRecord } from './exchanges/record.ts';
export { type RecordOptions, recordExchanges } from './exchanges/record.ts';
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
export type { GrantLogin, GrantLoginOptions } from './grants/grant-login.ts';
export {
  type ClientCredentialsOptions,
  clientCredentialsAuthorizer,
  loginWithClientCredentials,
  loginWithWorkloadIdentity,
  type WorkloadIdentityOptions,
  workloadIdentityAuthorizer,
} from './grants/grant-login.ts';
export type { IdentityProvider, SubjectToken } from './grants/identity-provider.ts';
export {
  type EnterpriseManagedOptions,
  enterpriseManagedAuthorizer,
  loginEnterpriseManaged,
} from './grants/identity-provider.ts';
export type { ClientIdentity } from './oauth-client.ts';
export {
  type DynamicRegistrationOptions,
  loopbackRedirectUris,
  registerDynamically,
} from './registration/dynamic-registration.ts';
export {
  type GivenClient,
  isClientKnown,
  keepRegistration,
  type ObtainedRegistration,
  obtainRegistration,
  type RegistrationOptions,
} from './registration/registration.ts';
export { createAuthProvider } from './session/auth-provider.ts';
export { formerLogin } from './session/former-login.ts';
export type { AuthorizationNeed, Authorizer } from './session/login-session.ts';
export { sendAuthorized } from './session/send-authorized.ts';
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
export { createMemoryStore } from './stores/store-data.ts';
export { clientOf, type Renewal, refreshCredential } from './tokens/renewal.ts';
export { refreshAheadSeconds, revokeCredential } from './tokens/token-request.ts';
export { freshCredential } from './tokens/tokens.ts';
export type { AnswerLimits } from './transports/bounded-fetch.ts';
export {
  type ConnectServerOptions,
  connectServer,
  type KnownServer,
  type ServerConnection,
  withMcpConnection,
} from './transports/connect-server.ts';
export { RestClientTransport, type RestClientTransportOptions } from './transports/rest-transport.ts';
export {
  createServerTransport,
  type HttpTransportKind,
  type ServerTransportOptions,
} from './transports/server-transports.ts';
export { canonicalServerUrl, requireUrl, type UrlRules } from './url-policy.ts';
