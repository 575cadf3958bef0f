export type { AccessWatch, Renewal } from './access-watch.ts';
export { type CallContext, callerOf } from './caller.ts';
export { createMcpEndpoint, type McpEndpoint, type McpEndpointOptions } from './endpoint.ts';
export type { ServerFactory } from './own-server.ts';
export { createPaging, type Paging } from './paging.ts';
export { isMethodOfMcp, type OpenMethods } from './reading/methods.ts';
export { getAuthValue, getParamValue, type MetaCarrier, type ProcessValues } from './rest-auth.ts';
export { declareScopes } from './scopes/declared-scopes.ts';
export type { OperationScopes, ScopeRules } from './scopes/scope-rules.ts';
export { warnOfUnknownScopes } from './scopes/unknown-scopes.ts';
export type { McpLike, ServerContext, ServerSource } from './server-source.ts';
export type { SessionLimits } from './sessions/session-registry.ts';
export { createSessionsInUse, type SessionsInUse } from './sessions/sessions-in-use.ts';
export { HeldBytes, type HeldBytesLimits } from './streams/held-bytes.ts';
export { RestServerTransport, type RestServerTransportOptions } from './transports/rest-server-transport.ts';
export { UpstreamLinkNeeded } from './upstreams/link-needed.ts';
export {
  type CallerUpstream,
  type UpstreamContext,
  type UpstreamNeeds,
  upstream,
} from './upstreams/upstream.ts';
export type { MissingLink, UpstreamAccess, UpstreamCall } from './upstreams/upstream-access.ts';
