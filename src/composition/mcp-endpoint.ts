import { paths } from '../app/paths.ts';
import { type AuditTrail, createPrincipalLimit } from '../authorization-server/index.ts';
import type { SealedBox } from '../crypto/sealed-box.ts';
import { createTextSeal } from '../crypto/text-seal.ts';
import { createMcpEndpoint, type McpEndpoint, type UpstreamAccess } from '../mcp/index.ts';
import { clientCredentialsExtension, enterpriseManagedExtension } from '../oauth/mcp-extensions.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Settings } from '../options.ts';
import type { NormalizedServer } from '../protected-server.ts';
import type { AccessWatch } from '../resource-server/index.ts';
import type { Storage } from '../storage/storage.ts';
import type { OwnResource } from './resources.ts';

/** What the MCP endpoint of an installation is made of. */
export interface McpEndpointParts {
  settings: Pick<Settings, 'mcp' | 'limits' | 'clients' | 'trustedIssuers'>;
  issuer: string;
  /** Identifiers of the protected resources it is. */
  own: Record<OwnResource, string>;
  server: NormalizedServer;
  storage: Pick<Storage, 'mcpSessions'>;
  access: AccessWatch;
  /** The APIs of upstreams, where there are any. */
  upstreams: UpstreamAccess | undefined;
  box: SealedBox;
  metrics: Metrics;
  auditTrail: AuditTrail;
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/** Composes the MCP endpoint, with its bounds and the numbers an operator sees of it. */
export function composeMcpEndpoint(parts: McpEndpointParts): McpEndpoint {
  const { settings, issuer, own, server, metrics, auditTrail, logger, now } = parts;
  const { mcp, limits, clients, trustedIssuers } = settings;
  const { countEvent, countLimited } = metrics;
  const endpoint = createMcpEndpoint({
    source: server.source,
    scopeRules: server.scopeRules,
    extensions: [
      ...(clients.clientCredentials ? [clientCredentialsExtension] : []),
      ...(trustedIssuers.some(({ identityAssertions }) => identityAssertions)
        ? [enterpriseManagedExtension]
        : []),
    ],
    urls: {
      mcp: new URL(own.mcp),
      sse: new URL(own.sse),
      messages: new URL(`${issuer}${paths.messages}`),
      rest: new URL(own.rest),
    },
    maxBodyBytes: mcp.maxBodyBytes,
    sessions: mcp.sessions,
    sessionLimits: {
      maxPerPrincipal: mcp.maxSessionsPerPrincipal,
      maxTotal: mcp.maxSessions,
      idleSeconds: mcp.sessionIdleSeconds,
      eventSeconds: mcp.eventSeconds,
      maxEvents: mcp.maxEventsPerSession,
      maxBytes: mcp.maxEventBytesPerSession,
    },
    principalLimits: mcp,
    ...(limits.mcpRequests && {
      requestLimit: createPrincipalLimit({
        name: 'mcpRequests',
        limit: limits.mcpRequests,
        auditTrail,
        logger,
        countEvent,
        countLimited,
      }),
    }),
    store: parts.storage.mcpSessions,
    access: parts.access,
    ...(parts.upstreams && { upstreams: parts.upstreams }),
    seal: createTextSeal(parts.box),
    now,
    logger,
  });
  metrics.watch('gatehouse_mcp_sessions', 'MCP sessions this process holds.', () => endpoint.load().sessions);
  metrics.watch('gatehouse_mcp_calls_running', 'MCP calls that run.', () => endpoint.load().calls);
  return endpoint;
}
