export { createMcpEndpoint, type McpEndpoint, type McpEndpointOptions } from './endpoint.ts';
export type { AccessWatch, Renewal } from './http/access-watch.ts';
export { HeldBytes, type HeldBytesLimits } from './http/held-bytes.ts';
export type { SessionLimits } from './legacy/session-registry.ts';
export { createSessionsInUse, type SessionsInUse } from './legacy/sessions-in-use.ts';
export { createPaging, type Paging } from './paging.ts';
export { isMethodOfMcp, type OpenMethods } from './reading/methods.ts';
export { getAuthValue, getParamValue, type MetaCarrier, type ProcessValues } from './rest/rest-auth.ts';
export { RestServerTransport, type RestServerTransportOptions } from './rest/server-transport.ts';
export { declareScopes } from './scopes/declared-scopes.ts';
export type { OperationScopes, ScopeRules } from './scopes/scope-rules.ts';
export { warnOfUnknownScopes } from './scopes/unknown-scopes.ts';
export { type CallContext, callerOf } from './sdk/caller.ts';
export type { ServerFactory } from './sdk/server-factory.ts';
export type { McpLike, ServerContext, ServerSource } from './sdk/server-source.ts';
export { UpstreamLinkNeeded } from './upstreams/link-needed.ts';
export {
  type CallerUpstream,
  type UpstreamContext,
  type UpstreamNeeds,
  upstream,
} from './upstreams/upstream.ts';
export type { MissingLink, UpstreamAccess, UpstreamCall } from './upstreams/upstream-access.ts';
