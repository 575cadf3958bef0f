export { type CallContext, callerOf } from './caller.ts';
export { createMcpEndpoint, type McpEndpoint, type McpEndpointOptions } from './endpoint.ts';
export type { ScopeRules } from './scope-rules.ts';
export type { McpLike, McpServerSource, ServerContext } from './server-source.ts';
export type { SessionLimits } from './sessions.ts';
