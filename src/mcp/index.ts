export type { AccessWatch } from './access-watch.ts';
export { type CallContext, callerOf } from './caller.ts';
export { createMcpEndpoint, type McpEndpoint, type McpEndpointOptions } from './endpoint.ts';
export type { StateSeal } from './modern/request-state.ts';
export type { ServerFactory } from './own-server.ts';
export { declareScopes } from './scopes/declared-scopes.ts';
export type { OperationScopes, ScopeRules } from './scopes/scope-rules.ts';
export type { McpLike, ServerContext, ServerSource } from './server-source.ts';
export type { SessionLimits } from './sessions/session-registry.ts';
