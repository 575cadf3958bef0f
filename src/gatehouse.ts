import type { RequestListener, Server } from 'node:http';
import type Koa from 'koa';
import { createApp } from './app/app.ts';
import { attachTo } from './app/attach.ts';
import { answerMetrics } from './app/metrics-server.ts';
import {
  buildFailurePage,
  buildHomePage,
  createAuditTrail,
  createAuthorizationServer,
  createPrincipalLimit,
  createSealAnew,
  createTolerances,
  keepSettingsClients,
  keyTimes,
  startKeyCare,
} from './authorization-server/index.ts';
import { createBackendObjects } from './composition/backend-objects.ts';
import { composeBond } from './composition/bond.ts';
import { composeCallerApi } from './composition/caller-api.ts';
import { composeDefinitionMemory } from './composition/definition-memory.ts';
import { composeEnteredCredentials } from './composition/entered-credentials.ts';
import { composeGuards } from './composition/guards.ts';
import { holdWhileWatched } from './composition/held-access.ts';
import { composeLifetimes } from './composition/lifetimes.ts';
import { composeHeldBytes, composeLimits } from './composition/limits.ts';
import { composeMcpEndpoint, type McpEndpointParts } from './composition/mcp-endpoint.ts';
import { viewMcp } from './composition/mcp-view.ts';
import { noteRoutesChange } from './composition/note-routes-change.ts';
import { checkRulesFit, readOperatorRules } from './composition/operator-rules.ts';
import { createReload, type ReloadOutcome } from './composition/reload.ts';
import { composeResources } from './composition/resources.ts';
import type { BackendOptions } from './composition/route-backend.ts';
import type { RouteCredentialsParts } from './composition/route-credentials.ts';
import { watchRoutes } from './composition/route-metrics.ts';
import { type RouteStatus, statusOfRoute } from './composition/route-status.ts';
import {
  createServedRoutes,
  placeServer,
  type RoutesChange,
  type ServingOptions,
} from './composition/served-routes.ts';
import { startSweeper } from './composition/sweeper.ts';
import { composeUpstreams } from './composition/upstreams.ts';
import { type BackendParts, makeBackend, wantServers } from './composition/wanted-servers.ts';
import type { KeyRing } from './crypto/key-ring.ts';
import type { KeySet } from './crypto/key-schedule.ts';
import { createSealedBox, createTextSeal } from './crypto/sealed-box.ts';
import { createCookieSigner, keyedDigest } from './crypto/secret.ts';
import { checkGivenParts, partNames } from './given-parts.ts';
import { createSessionsInUse } from './mcp/index.ts';
import { demandedProxy } from './net/guarded-fetch.ts';
import { notesServer } from './notes-server.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { parseSettings, type SettingsInput } from './options.ts';
import { packageVersion } from './package-version.ts';
import { type OwnServer, readOwnServer } from './protected-server.ts';
import {
  createAccessWatch,
  createDpopNonces,
  createLocalVerifier,
  type DpopPolicy,
} from './resource-server/index.ts';
import { makeAll, SettingsRefused } from './settings/issues.ts';
import { adviseOnOwnServer, adviseOnRoutes, adviseOnSettings } from './settings-advice.ts';
import type { Storage } from './storage/storage.ts';
import { createCallerTokens } from './upstream/tools/caller-tokens.ts';
import { createVault } from './upstream/vault.ts';

export type { ReloadOutcome, RouteStatus, RoutesChange };

/** What `createGatehouse` takes: the settings of the config file, and what only code can give. */
export interface GatehouseOptions extends SettingsInput {
  /** Where clients reach this server. */
  publicUrl: string;
  storage: Storage;
  keys: KeySet;
  /** Where the keys come from, so that they can change; without it they stay as they are. */
  keyRing?: KeyRing;
  /** The MCP server behind the gate, at the public URL itself; a server of notes where there is no route either. */
  server?: OwnServer;
  /** A backend behind the gate instead of a server, at the public URL itself: a program, or a server reached by URL. */
  backend?: BackendOptions;
  /** Takes the log; JSON lines on standard error by default. */
  logger?: Logger;
}

/** A gatehouse, ready to be listened to. */
export interface Gatehouse {
  /** The Koa app. */
  app: Koa;
  /** The MCP endpoint clients are given: that of the first server. */
  readonly mcpUrl: string;
  /** All MCP servers, with the endpoint of each. */
  readonly servers: readonly { name: string; mcpUrl: string }[];
  issuer: string;
  /** Serves `GET /metrics` on a port of its own: a listener for a Node HTTP server. */
  serveMetrics: RequestListener;
  /**
   * Serves a Node HTTP server, and readies its time limits for long streams and proxies. Give it one without a listener
   * of its own.
   * @throws TypeError for what is no server, such as an app of Express; Error for a server that another gatehouse
   *   serves, unless that was closed
   */
  attach(server: Server): void;
  /** Tells how each route stands at this moment. */
  routes(): RouteStatus[];
  /**
   * Serves other routes from now on. Sessions, streams and processes of those that are as they were go on; others take
   * nothing new, and end when the calls that run at them have ended, at the latest after 8 seconds.
   * @returns what became of each
   * @throws SettingsRefused naming every problem; nothing has changed then
   */
  replaceRoutes(routes: SettingsInput['routes']): RoutesChange;
  /**
   * Reads the settings again. Routes are replaced as by `replaceRoutes`; the other settings count at the next start.
   * @param load reads them; what it throws changes nothing
   * @param cause for the log
   */
  reload(load: () => SettingsInput, cause: string): ReloadOutcome;
  /**
   * Takes no MCP calls any more, and ends streams and background work; calls that run are answered with an error. The
   * storage stays open: it belongs to the caller.
   * @param patienceMs how long calls that run may take to end by themselves, in milliseconds; not at all by default
   */
  close(patienceMs?: number): Promise<void>;
}

/** Documents are fetched from addresses that were checked, past any proxy: where one is demanded, that must not happen. */
function checkNoProxyDemanded(): void {
  const proxy = demandedProxy(process);
  if (proxy !== undefined)
    throw new SettingsRefused([
      `clients.metadataDocuments.enabled: documents of clients are fetched directly, but Node.js was told to use the proxy in ${proxy}; set it to false, or start without NODE_USE_ENV_PROXY and --use-env-proxy`,
    ]);
}

/**
 * Puts the parts together: authorization server, resource server and MCP endpoint under one public URL.
 * @throws SettingsRefused naming every problem
 */
export async function createGatehouse(options: GatehouseOptions): Promise<Gatehouse> {
  checkGivenParts(options);
  const { storage, keys, keyRing, server, backend, logger: givenLogger, ...input } = options;
  const settings = parseSettings(input, partNames);
  if (settings.publicUrl === undefined) throw new SettingsRefused(['publicUrl: is needed']);
  const issuer = settings.publicUrl;
  const logger = givenLogger ?? createLogger(settings.log.level);
  const now = (): number => Math.floor(Date.now() / 1000);
  for (const advice of adviseOnSettings(settings)) logger.warn(advice);

  const { metadataDocuments } = settings.clients;
  if (metadataDocuments.enabled !== false) checkNoProxyDemanded();

  const metrics = createMetrics(packageVersion());
  const auditTrail = createAuditTrail({ store: storage.audit, logger, now });
  const pinDefinitions = composeDefinitionMemory({ storage, auditTrail, metrics, logger, now });
  const objects = createBackendObjects({ storage, key: keys.audit, logger, now });
  const box = createSealedBox(keys.sealing);
  const held = composeHeldBytes(settings.limits, metrics, logger);
  const parts: BackendParts = { issuer, pinDefinitions, objects, seal: createTextSeal(box), held, logger };
  const own = (brought: OwnServer) => () => ({ server: readOwnServer(brought, issuer) });
  const brought = {
    given: backend ? () => makeBackend(backend, parts) : server && own(server),
    otherwise: own(notesServer(storage, now)),
  };
  const entered = composeEnteredCredentials({ store: storage.backendCredentials, box, logger });
  const backendParts: BackendParts & RouteCredentialsParts = {
    ...parts,
    environment: process.env,
    entered,
    upstreams: Object.keys(settings.upstreams),
    labelOf: (name) => upstreams.find(name)?.label ?? name,
    tokens: {
      token: (...asked) => upstreamTokens.token(...asked),
      holds: (...asked) => upstreamTokens.holds(...asked),
    },
    now,
  };
  const wanted = wantServers(settings, brought, backendParts);
  const placed = makeAll(wanted.map((each) => () => placeServer(each, issuer)));
  const broughtServer = server && placed.find(({ backend: elsewhere }) => !elsewhere)?.server;
  for (const advice of broughtServer ? adviseOnOwnServer(broughtServer) : []) logger.warn(advice);
  const routes = createServedRoutes();
  const resources = composeResources(settings, placed);
  const lifetimes = composeLifetimes(settings);
  const tolerances = createTolerances(settings.clients.tolerances, logger);
  const { clients, ownGrants } = readOperatorRules(settings, resources);
  for (const clientId of await keepSettingsClients(storage.clients, box, clients, now()))
    logger.warn({ clientId }, 'a client was taken out of the settings; what was issued to it has ended');
  const upstreams = await composeUpstreams({
    settings,
    publicUrl: issuer,
    resources,
    environment: process.env,
    logger,
    now,
  });
  const vault = createVault(box, now);
  const bond = composeBond({ upstreams, storage, vault, auditTrail, metrics, logger, now });
  const upstreamTokens = createCallerTokens({ links: storage.upstreams, standing: bond.standing, now });
  const authorizationServer = createAuthorizationServer({
    ...bond.options,
    upstreams: { upstreams, vault },
    issuer,
    tolerances,
    storage,
    keys,
    resources,
    ownGrants,
    ...viewMcp(routes, { issuer, accessTokenSeconds: lifetimes.accessTokenSeconds, now }),
    credentialForms: () =>
      routes.all.flatMap(({ forms = [] }) => forms).filter(({ credentials }) => credentials.length > 0),
    lifetimes,
    refreshGraceSeconds: settings.tokens.refreshGraceSeconds,
    repeatFromOtherAddress: settings.tokens.repeatFromOtherAddress,
    requireDpopNonce: settings.tokens.dpop.requireNonce,
    registration: {
      policy: settings.clients.registration,
      sealedIds: settings.clients.sealedIds,
      redirectSchemes: settings.clients.redirectSchemes,
    },
    ...(metadataDocuments.enabled !== false
      ? {
          clientDocuments: {
            ...metadataDocuments,
            dangerouslyFromLoopback: settings.dangerously.fetchFromLoopback,
            announced:
              metadataDocuments.enabled === true || settings.dangerously.fetchFromLoopback
                ? 'always'
                : 'if_fetchable',
          },
        }
      : undefined),
    trustsOtherPorts: settings.dangerously.trustOtherPorts,
    deviceLogin: settings.login.deviceFlow,
    clientCredentials: settings.clients.clientCredentials,
    ...(demandedProxy(process) === undefined
      ? { clientKeys: { dangerouslyFromLoopback: settings.dangerously.fetchFromLoopback } }
      : undefined),
    limits: composeLimits(settings.limits),
    logger,
    countEvent: metrics.countEvent,
    countLimited: metrics.countLimited,
    auditTrail,
    now,
  });
  const accessWatch = createAccessWatch({ source: authorizationServer.accessTokens, now, logger });
  const { mcpRequests } = settings.limits;
  const endpointParts: McpEndpointParts = {
    settings,
    issuer,
    requestLimit:
      mcpRequests &&
      createPrincipalLimit({
        name: 'mcpRequests',
        limit: mcpRequests,
        auditTrail,
        logger,
        countEvent: metrics.countEvent,
        countLimited: metrics.countLimited,
      }),
    storage,
    sessionsInUse: createSessionsInUse(),
    held,
    access: holdWhileWatched(accessWatch, bond.standing),
    upstreams: composeCallerApi({
      upstreams,
      links: storage.upstreams,
      standing: bond.standing,
      dangerouslyFromLoopback: settings.dangerously.upstreamsOverHttp,
      issuer,
      now,
    }),
    box,
    logger,
    now,
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
  const serving: ServingOptions = {
    issuer,
    serve: (each) => ({
      ...each,
      path: each.wanted.path,
      protectedResources: composeGuards({
        issuer,
        own: each.own,
        server: each.server,
        verifier,
        dpop,
        grants: authorizationServer,
        renderPage: (acceptLanguage) =>
          buildHomePage(
            {
              name: each.server.name,
              servers: [{ name: each.server.name, mcpUrl: each.own.mcp }],
              accountUrl: `${issuer}/account`,
            },
            acceptLanguage,
          ),
      }),
      mcpEndpoint: composeMcpEndpoint({ path: each.wanted.path, ...each }, endpointParts),
    }),
    announce(others) {
      const now = composeResources(settings, others);
      checkRulesFit(settings, now);
      authorizationServer.replaceResources(now);
    },
  };
  routes.begin(placed, serving);
  watchRoutes(routes, metrics);
  const servers = () => routes.all.map(({ server: { name }, own }) => ({ name, mcpUrl: own.mcp }));
  let isStopping = false;
  const app = createApp({
    publicUrl: issuer,
    isStopping: () => isStopping,
    metrics,
    allowedOrigins: settings.allowedOrigins,
    trustedProxies: settings.trustedProxies,
    direct: settings.trustedProxies.length === 0,
    cookieKeys: createCookieSigner(keys.cookies) as Koa['keys'],
    storage,
    logger,
    routes,
    renderHomePage: (acceptLanguage) =>
      buildHomePage(
        { name: new URL(issuer).host, servers: servers(), accountUrl: `${issuer}/account` },
        acceptLanguage,
      ),
    renderErrorPage: buildFailurePage,
    tolerate: tolerances.tolerate,
    authorizationServer: authorizationServer.middleware,
  });

  const keyCare =
    keyRing &&
    startKeyCare({
      ...keyTimes(settings.rotation, lifetimes, settings.resources),
      ring: keyRing,
      isSealedAnew: createSealAnew({ rows: storage.sealedRows, box, logger }),
      record: (event, details) =>
        auditTrail.note(event, details, () => logger.info({ audit: event, ...details })),
      logger,
      now,
    });

  const replaceRoutes = (others: SettingsInput['routes']): RoutesChange => {
    const next = parseSettings({ ...input, routes: others });
    const change = routes.replace(wantServers(next, brought, backendParts), serving);
    noteRoutesChange(change, { auditTrail, logger });
    const fresh = [...change.added, ...change.changed];
    const routesToAdvise = Object.entries(next.routes).filter(([name]) => fresh.includes(name));
    for (const advice of adviseOnRoutes(Object.fromEntries(routesToAdvise))) logger.warn(advice);
    return change;
  };

  const stopSweeping = startSweeper({ storage, audit: settings.audit, logger, now });

  return {
    app,
    get mcpUrl() {
      return servers()[0]?.mcpUrl ?? issuer;
    },
    get servers() {
      return servers();
    },
    issuer,
    serveMetrics: answerMetrics(metrics),
    attach: (httpServer) =>
      attachTo(httpServer, { listener: app.callback(), isOver: () => isStopping }, logger),
    routes: () => routes.all.map(statusOfRoute),
    replaceRoutes,
    reload: createReload({ started: settings, replaceRoutes, logger }),
    async close(patienceMs) {
      isStopping = true;
      stopSweeping();
      await keyCare?.close();
      await routes.close(patienceMs);
      accessWatch.close();
      entered.close();
      objects.close();
      await bond.close();
      await auditTrail.close();
      logger.info('the server has stopped');
    },
  };
}
