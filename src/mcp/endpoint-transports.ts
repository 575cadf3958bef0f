import type { Logger } from '../observability/logger.ts';
import type { McpSessionStore } from '../storage/mcp-sessions.ts';
import type { AccessWatch } from './access-watch.ts';
import { createCallLimit } from './call-limit.ts';
import { createConversations } from './conversations/index.ts';
import { filterLists } from './conversations/filtered.ts';
import { createDispatch, withPreflight } from './dispatch.ts';
import type { StateSeal } from './modern/request-state.ts';
import { createScopeGate } from './scopes/scope-gate.ts';
import type { ScopeRules } from './scopes/scope-rules.ts';
import type { ServerSource } from './server-source.ts';
import { createSessionRegistry, type SessionLimits } from './sessions/session-registry.ts';
import { createModernTransport } from './transports/modern.ts';
import { checkRestAccept, checkRestMethod, createRestTransport } from './transports/rest.ts';
import { createSseTransport } from './transports/sse.ts';
import { createStatelessTransport } from './transports/stateless.ts';
import { createStreamableHttp } from './transports/streamable-http.ts';
import type { Serve } from './transports/transport.ts';

/** How much of an endpoint one principal may use at once. */
export interface PrincipalLimits {
  maxCallsPerPrincipal: number;
  /** Open streams that belong to no session: HTTP+SSE, and listening in 2026-07-28. */
  maxStreamsPerPrincipal: number;
}

/** What the transports of an endpoint are made of. */
export interface McpTransportsOptions {
  /** Where MCP servers come from. */
  source: ServerSource;
  /** Which scopes tools, prompts and resources need. */
  scopeRules: ScopeRules;
  /** The endpoint's public URL; the identifier of the protected resource. */
  url: URL;
  /** Public URL that messages of HTTP+SSE are posted to. */
  messagesUrl: URL;
  /** Where the metadata of the protected resource stands; goes into challenges. */
  resourceMetadataUrl: string;
  maxBodyBytes: number;
  /** Whether the revisions up to 2025-11-25 are served in sessions, or each request by itself. */
  sessions: 'stored' | 'none';
  sessionLimits: SessionLimits;
  principalLimits: PrincipalLimits;
  store: McpSessionStore;
  access: AccessWatch;
  seal: StateSeal;
  /** Epoch seconds. */
  now: () => number;
  logger: Logger;
}

/** The transports of an endpoint, each with the checks in front of it. */
export interface McpTransports {
  streamableHttp: Serve;
  sse: Serve;
  messages: Serve;
  rest: Serve;
  close(): Promise<void>;
}
