import { paths } from '../app/paths.ts';
import { createTextSeal, type SealedBox } from '../crypto/sealed-box.ts';
import {
  createMcpEndpoint,
  type HeldBytes,
  type McpEndpoint,
  type McpEndpointOptions,
  type SessionsInUse,
  type UpstreamAccess,
  warnOfUnknownScopes,
} from '../mcp/index.ts';
import { clientCredentialsExtension, enterpriseManagedExtension } from '../oauth/metadata.ts';
import type { Logger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import type { NormalizedServer } from '../protected-server.ts';
import type { AccessWatch } from '../resource-server/index.ts';
import type { Storage } from '../storage/storage.ts';
import type { OwnResource } from './resources.ts';
import { sessionsOfRoute } from './route-sessions.ts';

/** The MCP server an endpoint serves, and where. */
export interface EndpointPlace {
  /** Path of its route below the public URL; empty for none. */
  path: string;
  /** Identifiers of the protected resources it is. */
  own: Record<OwnResource, string>;
  server: Pick<NormalizedServer, 'source' | 'scopes' | 'scopeRules' | 'methods'>;
}

/** What the MCP endpoints of an installation are made of. */
export interface McpEndpointParts {
  settings: Pick<Settings, 'mcp' | 'clients' | 'trustedIssuers'>;
  issuer: string;
  /** Counts the requests of callers at all of them together. */
  requestLimit: McpEndpointOptions['requestLimit'] | undefined;
  storage: Pick<Storage, 'mcpSessions'>;
  /** The sessions of all of them. */
  sessionsInUse: SessionsInUse;
  access: AccessWatch;
  /** Counts the bytes that wait for clients of all of them. */
  held: HeldBytes;
  /** The APIs of upstreams, where there are any. */
  upstreams: UpstreamAccess | undefined;
  box: SealedBox;
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/** Composes the MCP endpoint of a server, with its bounds. */
export function composeMcpEndpoint(
  { path, own, server }: EndpointPlace,
  parts: McpEndpointParts,
): McpEndpoint {
  const { settings, issuer, requestLimit, logger, now } = parts;
  const { mcp, clients, trustedIssuers } = settings;
  return createMcpEndpoint({
    source: warnOfUnknownScopes(server.source, Object.keys(server.scopes), logger),
    scopeRules: server.scopeRules,
    ...(server.methods && { methods: server.methods }),
    extensions: [
      ...(clients.clientCredentials ? [clientCredentialsExtension] : []),
      ...(trustedIssuers.some(({ identityAssertions }) => identityAssertions)
        ? [enterpriseManagedExtension]
        : []),
    ],
    urls: {
      mcp: new URL(own.mcp),
      sse: new URL(own.sse),
      messages: new URL(`${issuer}${path}${paths.messages}`),
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
    ...(requestLimit && { requestLimit }),
    store: sessionsOfRoute(parts.storage.mcpSessions, path),
    sessionsInUse: parts.sessionsInUse,
    access: parts.access,
    held: parts.held,
    ...(parts.upstreams && { upstreams: parts.upstreams }),
    seal: createTextSeal(parts.box),
    now,
    logger,
  });
}
