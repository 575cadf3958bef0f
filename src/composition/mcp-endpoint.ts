import type { GuardedResource } from '../app/app.ts';
import { type Page, wantsPage } from '../app/page.ts';
import { paths } from '../app/paths.ts';
import {
  type AuditTrail,
  type AuthorizationServer,
  buildHomePage,
  createPrincipalLimit,
  createToolCallLimits,
  type Limiters,
} from '../authorization-server/index.ts';
import type { NodeBus } from '../cluster/bus.ts';
import { relayChanges } from '../cluster/relays.ts';
import type { KeySet } from '../crypto/key-schedule.ts';
import { createTextSeal, type SealedBox } from '../crypto/sealed-box.ts';
import { keyedDigest } from '../crypto/secret.ts';
import { failureOutcomes } from '../gateway/index.ts';
import { type Ledger, outcomeOf } from '../ledger/index.ts';
import {
  createMcpEndpoint,
  createSessionsInUse,
  HeldBytes,
  type McpEndpoint,
  type McpEndpointOptions,
  type Peers,
  type SessionsInUse,
  type UpstreamAccess,
  warnOfUnknownScopes,
} from '../mcp/index.ts';
import { routeOfPrincipal } from '../oauth/auth-info.ts';
import { clientCredentialsExtension, enterpriseManagedExtension } from '../oauth/metadata.ts';
import { protectedResourceMetadataUrl } from '../oauth/well-known.ts';
import { loggable } from '../observability/loggable.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Settings } from '../options.ts';
import type { NormalizedServer } from '../protected-server.ts';
import {
  type AccessWatch,
  buildProtectedResource,
  createDpopNonces,
  createLocalVerifier,
  createRequireBearer,
  type DpopPolicy,
  type TokenVerifier,
} from '../resource-server/index.ts';
import type { McpSessionStore, StoredSession } from '../storage/mcp-sessions.ts';
import type { Storage } from '../storage/storage.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { ResolvedRoute } from './resolve-routes.ts';
import type { OwnResource } from './resources.ts';
import type { PlacedServer, ServedRoute } from './served-routes.ts';

/** Parts of {@link composeServing}. */
export interface ServingParts
  extends Pick<
    McpEndpointParts,
    | 'issuer'
    | 'storage'
    | 'peers'
    | 'lease'
    | 'bus'
    | 'access'
    | 'held'
    | 'upstreams'
    | 'box'
    | 'ledger'
    | 'tracing'
    | 'logger'
    | 'now'
  > {
  settings: Pick<Settings, 'mcp' | 'clients' | 'trustedIssuers' | 'limits' | 'tokens'>;
  keys: KeySet;
  authorizationServer: AuthorizationServer;
  limiters: Limiters;
  auditTrail: AuditTrail;
  metrics: Pick<Metrics, 'countEvent' | 'countLimited' | 'countCall'>;
}

/** Returns the function that puts the bearer check and the MCP endpoint in front of a server. */
export function composeServing(parts: ServingParts): (placed: PlacedServer) => ServedRoute {
  const { settings, keys, authorizationServer, limiters, auditTrail, metrics, ...shared } = parts;
  const { issuer, logger, now } = shared;
  const { countEvent, countLimited } = metrics;
  const { mcpRequests, toolCalls } = settings.limits;
  const limitParts = { limiters, auditTrail, logger, countEvent, countLimited };
  const endpointParts = {
    ...shared,
    settings,
    countCall: metrics.countCall,
    requestLimit:
      mcpRequests && createPrincipalLimit({ ...limitParts, name: 'mcpRequests', limit: mcpRequests }),
    limitToolCalls:
      toolCalls.times === 0 ? undefined : createToolCallLimits({ ...limitParts, limit: toolCalls }),
    sessionsInUse: createSessionsInUse(),
  };
  const verifier = createLocalVerifier({ source: authorizationServer.accessTokens, issuer, now });
  const dpop: DpopPolicy = {
    ...settings.tokens.dpop,
    publicOrigin: new URL(issuer).origin,
    nonces: createDpopNonces(
      () => keys.cookies.map((key) => keyedDigest(key, 'DPoP nonces', 'MCP endpoint')),
      now,
    ),
    usedProofs: authorizationServer.usedProofs,
    now,
  };
  return (placed) => {
    const { own, server, route } = placed;
    const home = {
      name: server.name,
      servers: [{ name: server.name, mcpUrl: own.mcp }],
      accountUrl: `${issuer}/account`,
    };
    return {
      ...placed,
      path: route.path,
      protectedResources: composeGuards({
        ...{ issuer, own, server, verifier, dpop, peers: shared.peers },
        grants: authorizationServer,
        renderPage: (acceptLanguage) => buildHomePage(home, acceptLanguage),
      }),
      mcpEndpoint: composeMcpEndpoint({ ...route, own, server }, endpointParts),
    };
  };
}

/** The server of an MCP endpoint, and its place. */
export interface EndpointPlace {
  /** Path of the route below the public URL; empty for the public URL itself. */
  path: string;
  recording: ResolvedRoute['recording'];
  credentials: ResolvedRoute['credentials'];
  /** Identifiers of its protected resources. */
  own: Record<OwnResource, string>;
  server: Pick<NormalizedServer, 'source' | 'scopes' | 'scopeRules' | 'methods'>;
}

/** Parts that all MCP endpoints of an installation share. */
export interface McpEndpointParts {
  settings: Pick<Settings, 'mcp' | 'clients' | 'trustedIssuers'>;
  issuer: string;
  /** Limits the requests of a caller at all endpoints together. */
  requestLimit: McpEndpointOptions['requestLimit'] | undefined;
  /** Creates the limit of tool calls of the endpoint at a path. */
  limitToolCalls: ((path: string) => NonNullable<McpEndpointOptions['toolCallLimit']>) | undefined;
  storage: Pick<Storage, 'mcpSessions'>;
  /** Records calls; undefined if none is recorded. */
  ledger: Ledger | undefined;
  /** Counts calls in the metrics. */
  countCall: Metrics['countCall'];
  /** Traces calls; undefined if none is traced. */
  tracing?: Pick<Tracing, 'callsOf'> | undefined;
  sessionsInUse: SessionsInUse;
  /** The other nodes; undefined if this process is the only one. */
  peers: Peers | undefined;
  /** The lease of a process without peers; undefined if no other one can take its place. */
  lease: McpEndpointOptions['lease'] | undefined;
  /** Carries messages between nodes; undefined if there is one. */
  bus: NodeBus | undefined;
  access: AccessWatch;
  /** Counts the bytes that wait for clients. */
  held: HeldBytes;
  /** The APIs of upstreams; undefined without upstreams. */
  upstreams: UpstreamAccess | undefined;
  box: SealedBox;
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/** Composes the MCP endpoint of a server, with its limits. */
function composeMcpEndpoint(place: EndpointPlace, parts: McpEndpointParts): McpEndpoint {
  const { path, own, server } = place;
  const { settings, issuer, requestLimit, ledger, tracing, peers, bus, logger, now } = parts;
  const { mcp, clients, trustedIssuers } = settings;
  const { mcpSessions } = parts.storage;
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
    ...(parts.limitToolCalls && { toolCallLimit: parts.limitToolCalls(path) }),
    calls: {
      ...(ledger && { recorder: ledger.recorderFor(path, place.recording, place.credentials) }),
      ...(tracing && { tracer: tracing.callsOf(path || '/') }),
      count: ({ method, target, ending, authInfo, ms }) =>
        parts.countCall({
          ...{ route: path || '/', method, tool: target, clientKind: authInfo.client?.kind, ms },
          outcome: outcomeOf(ending, failureOutcomes).outcome,
        }),
    },
    store: sessionsOfRoute(peers ? mcpSessions.ofNode(peers.id) : mcpSessions, path),
    sessionsInUse: parts.sessionsInUse,
    ...(peers && { peers }),
    ...(parts.lease && { lease: parts.lease }),
    ...(bus && {
      relays: {
        listeners: relayChanges(bus, path, 'listeners'),
        conversations: relayChanges(bus, path, 'conversations'),
      },
    }),
    access: parts.access,
    held: parts.held,
    ...(parts.upstreams && { upstreams: parts.upstreams }),
    seal: createTextSeal(parts.box),
    now,
    logger,
  });
}

/** Parts of {@link composeGuards}. */
export interface GuardParts {
  issuer: string;
  /** Identifiers of the protected resources. */
  own: Record<OwnResource, string>;
  server: Pick<NormalizedServer, 'name' | 'baselineScopes'>;
  verifier: TokenVerifier;
  dpop: DpopPolicy;
  /** Renders the page for a person who opens the MCP URL, in the languages of the browser. */
  renderPage: (acceptLanguage: string) => Page;
  grants: Pick<AuthorizationServer, 'acceptedCalls' | 'isServerChosen'>;
  /** The other nodes; undefined if this process is the only one. */
  peers?: Pick<Peers, 'hasCounted'> | undefined;
}

/** Composes the metadata document and the bearer check of each protected resource of a server (RFC 9728, RFC 6750). */
export function composeGuards(parts: GuardParts): Record<OwnResource, GuardedResource> {
  const { issuer, own, server, verifier, dpop, grants, renderPage, peers } = parts;
  const { name, baselineScopes } = server;
  const guard = (resource: string): GuardedResource => ({
    metadata: buildProtectedResource({
      resource,
      authorizationServers: [issuer],
      scopesSupported: baselineScopes,
      name,
      dpop,
    }),
    requireBearer: createRequireBearer({
      verifier,
      resource,
      sameServer: Object.values(own),
      isServerChosen: async ({ grantId }) => grantId !== undefined && grants.isServerChosen(grantId),
      acceptedCalls: grants.acceptedCalls,
      renderPage: (ctx) => (wantsPage(ctx) ? renderPage(ctx.get('Accept-Language')) : undefined),
      resourceMetadataUrl: protectedResourceMetadataUrl(resource),
      baselineScopes,
      dpop,
      ...(peers && { isProofRecorded: (request) => peers.hasCounted(request) }),
    }),
  });
  return { mcp: guard(own.mcp), sse: guard(own.sse), rest: guard(own.rest) };
}

/**
 * Narrows the session store to one route: it does not find the sessions of other routes (T-158, T-162). The storage adds
 * the route to the principal; a session at the public URL itself has none.
 * @param path path of the route below the public URL; empty for the public URL itself
 */
export function sessionsOfRoute(store: McpSessionStore, path: string): McpSessionStore {
  if (path === '') return { ...store, ...ownSessions(store, '', (principal) => principal) };
  const suffix = `,${JSON.stringify(path)}]`;
  return { ...store, ...ownSessions(store, path, (principal) => `${principal.slice(0, -1)}${suffix}`) };
}

/** @param withRoute adds the route to a principal */
function ownSessions(
  store: McpSessionStore,
  path: string,
  withRoute: (principal: string) => string,
): Pick<McpSessionStore, 'open' | 'find' | 'listOf' | 'listBelow'> {
  const isOwn = ({ principal }: StoredSession): boolean => routeOfPrincipal(principal) === path;
  const withoutRoute = (session: StoredSession): StoredSession => {
    const principal = JSON.stringify((JSON.parse(session.principal) as string[]).slice(0, 3));
    return { ...session, principal };
  };
  return {
    open: (session, caps) => store.open({ ...session, principal: withRoute(session.principal) }, caps),
    async find(key) {
      const session = await store.find(key);
      return session && isOwn(session) ? withoutRoute(session) : undefined;
    },
    listOf: (principal) => store.listOf(withRoute(principal)),
    listBelow: async (prefix) => (await store.listBelow(prefix)).filter(isOwn).map(withoutRoute),
  };
}

/** Composes the limit on bytes that wait for clients. Each response that a client does not get is logged and counted (T-205). */
export function composeHeldBytes(
  { heldBytes }: Pick<Settings['limits'], 'heldBytes'>,
  { countLostAnswer, watch }: Pick<Metrics, 'countLostAnswer' | 'watch'>,
  logger: Pick<Logger, 'warn'>,
): HeldBytes {
  const held = new HeldBytes(heldBytes, ({ loss, client, bytes }) => {
    countLostAnswer(loss);
    logger.warn({ loss, client: loggable(client), bytes }, lossMessages[loss]);
  });
  watch('gatehouse_held_bytes', 'Bytes held for clients that have not taken them.', () => held.bytes);
  return held;
}

const lossMessages = {
  slow: 'a client was disconnected: it read nothing of its response, and others need the memory',
  no_room: 'a response is lost: too many bytes wait for clients already (limits.heldBytes)',
  stalled: 'a client was disconnected: it read nothing of its response',
  left: 'a client closed its connection before it had read its response',
} as const;
