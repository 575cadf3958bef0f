export type {
  CallEnding,
  CallNotes,
  CallObservers,
  CallRecorder,
  CallSpan,
  CallTracer,
  FinishedCall,
  StartedCall,
} from './calls.ts';
export { createMcpEndpoint, type McpEndpoint, type McpEndpointOptions } from './endpoint.ts';
export type { AccessWatch, Renewal } from './http/exchange.ts';
export { HeldBytes, type HeldBytesLimits } from './http/held-bytes.ts';
export { hashSessionId } from './legacy/session.ts';
export type { SessionLimits } from './legacy/session-registry.ts';
export { createSessionsInUse, type SessionsInUse } from './legacy/session-registry.ts';
export { processOfSse } from './legacy/sse.ts';
export { createPaging, createSealedCursors, type Paging } from './paging.ts';
export type { Peers, SessionLease, SessionOwnership } from './peers.ts';
export type { McpLike, ServerContext, ServerSource } from './protocol.ts';
export { isMethodOfMcp, type OpenMethods } from './reading/methods.ts';
export {
  getAuthValue,
  getParamValue,
  type MetaCarrier,
  type ProcessValues,
  RestServerTransport,
  type RestServerTransportOptions,
} from './rest/server-transport.ts';
export type { OperationScopes, ScopeRules } from './scopes/scope-rules.ts';
export { declareScopes, warnOfUnknownScopes } from './scopes/scope-rules.ts';
export { type CallContext, callerOf } from './sdk/caller.ts';
export type { ServerFactory } from './sdk/server-factory.ts';
export type { MissingLink, UpstreamAccess, UpstreamCall } from './upstreams/upstream.ts';
export {
  type CallerUpstream,
  type UpstreamContext,
  UpstreamLinkNeeded,
  type UpstreamNeeds,
  upstream,
} from './upstreams/upstream.ts';
