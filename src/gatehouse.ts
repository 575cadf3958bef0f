import type Koa from 'koa';
import { createApp } from './app/app.ts';
import { createAddressFinder } from './app/client-address.ts';
import { answerMetrics, attachTo } from './app/http-server.ts';
import {
  buildFailurePage,
  buildHomePage,
  createAuditTrail,
  createLimiters,
  createTolerances,
  keepSettingsClients,
} from './authorization-server/index.ts';
import {
  checkNoProxyDemanded,
  composeAuthorizationServer,
  composeLifetimes,
} from './composition/authorization-server.ts';
import {
  composeDefinitionMemory,
  composeEnteredCredentials,
  createBackendObjects,
} from './composition/backend-state.ts';
import { composeBus, composeCluster } from './composition/cluster.ts';
import { composeLedger } from './composition/ledger.ts';
import { composeHeldBytes, composeServing } from './composition/mcp-endpoint.ts';
import { createReload } from './composition/reload.ts';
import { type BackendParts, makeBackend, resolveRoutes } from './composition/resolve-routes.ts';
import { checkRulesFit, composeResources, readOperatorRules } from './composition/resources.ts';
import type { RouteCredentialsParts } from './composition/route-backend.ts';
import {
  createServedRoutes,
  placeServer,
  type RoutesChange,
  recordRoutesChange,
  type ServingOptions,
  statusOfRoute,
  watchRoutes,
} from './composition/served-routes.ts';
import { composeTracing } from './composition/tracing.ts';
import { startKeyRotation, startSweeper } from './composition/upkeep.ts';
import {
  composeBond,
  composeCallerApi,
  composeUpstreams,
  watchLinkedAccess,
} from './composition/upstreams.ts';
import { createSealedBox, createTextSeal } from './crypto/sealed-box.ts';
import { createCookieSigner } from './crypto/secret.ts';
import { checkGivenParts, type Gatehouse, type GatehouseOptions, partNames } from './gatehouse-interface.ts';
import { notesServer } from './notes-server.ts';
import { createLogger } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { parseSettings, type Settings, type SettingsInput } from './options.ts';
import { packageVersion } from './package-files.ts';
import { type OwnServer, readOwnServer } from './protected-server.ts';
import { createAccessWatch } from './resource-server/index.ts';
import { makeAll, SettingsRefused } from './settings/issues.ts';
import { adviseOnOwnServer, adviseOnRoutes, adviseOnSettings } from './settings-advice.ts';
import { createCallerTokens } from './upstream/index.ts';
import { createVault } from './upstream/vault.ts';

/**
 * Creates a gatehouse: authorization server, resource server and MCP endpoints under one public URL.
 * @throws SettingsRefused naming every problem
 */
export async function createGatehouse(options: GatehouseOptions): Promise<Gatehouse> {
  checkGivenParts(options);
  const { storage, keys, keyRing, server, backend, logger: givenLogger, ...input } = options;
  const settings = parseSettings(input, partNames);
  if (settings.publicUrl === undefined) throw new SettingsRefused(['publicUrl: is required']);
  const issuer = settings.publicUrl;
  const accountUrl = `${issuer}/account`;
  const logger = givenLogger ?? createLogger(settings.log.level);
  const now = (): number => Math.floor(Date.now() / 1000);
  for (const advice of adviseOnSettings(settings)) logger.warn(advice);
  checkNoProxyDemanded(settings);

  const metrics = createMetrics(packageVersion());
  const auditTrail = createAuditTrail({ store: storage.audit, logger, now });
  const limiters = createLimiters({ counters: storage.counters, keys, logger });
  const shared = { issuer, settings, storage, keys, auditTrail, limiters, metrics, logger, now };
  const box = createSealedBox(keys.sealing);
  const held = composeHeldBytes(settings.limits, metrics, logger);
  const bus = composeBus(shared);
  const traced = { environment: process.env, version: packageVersion() };
  const recording = composeLedger({ ...shared, ...traced });
  const tracing = await composeTracing({ ...traced, logger });

  const entered = composeEnteredCredentials({ store: storage.backendCredentials, box, logger });
  const objects = createBackendObjects({ storage, key: keys.audit, logger, now });
  const backendParts: BackendParts & RouteCredentialsParts = {
    ...{ issuer, objects, held, entered, bus, tracing, logger, now },
    sharing: limiters.sharing,
    pinDefinitions: composeDefinitionMemory({ ...shared, bus }),
    seal: createTextSeal(box),
    assertions: { issuer, signing: keys.signing, now },
    environment: process.env,
    upstreams: Object.keys(settings.upstreams),
    labelOf: (name) => upstreams.find(name)?.label ?? name,
    tokens: {
      token: (...asked) => upstreamTokens.token(...asked),
      holds: (...asked) => upstreamTokens.holds(...asked),
    },
  };
  const own = (given: OwnServer) => () => ({ server: readOwnServer(given, issuer) });
  const provided = {
    given: backend ? () => makeBackend(backend, backendParts) : server && own(server),
    otherwise: own(notesServer(storage, now)),
  };
  const resolve = (of: Pick<Settings, 'routes'>) => resolveRoutes(of, provided, backendParts);
  const placed = makeAll(resolve(settings).map((route) => () => placeServer(route, issuer)));
  const ownServer = server && placed.find(({ backend: elsewhere }) => !elsewhere)?.server;
  for (const advice of ownServer ? adviseOnOwnServer(ownServer) : []) logger.warn(advice);

  const routes = createServedRoutes();
  const resources = composeResources(settings, placed);
  const lifetimes = composeLifetimes(settings);
  const tolerances = createTolerances(settings.clients.tolerances, logger);
  const { clients, ownGrants } = readOperatorRules(settings, resources);
  for (const clientId of await keepSettingsClients(storage.clients, box, clients, now()))
    logger.warn({ clientId }, 'a client was removed from the settings; its grants and tokens have ended');
  const environment = process.env;
  const upstreams = await composeUpstreams({ ...shared, publicUrl: issuer, resources, environment });
  const vault = createVault(box, now);
  const bond = composeBond({ ...shared, upstreams, vault });
  const { standing } = bond;
  const links = storage.upstreams;
  const upstreamTokens = createCallerTokens({ links, standing, now });
  const authorizationServer = composeAuthorizationServer({
    ...shared,
    ...bond.options,
    ...{ routes, resources, ownGrants, tolerances, lifetimes },
    upstreams: { upstreams, vault },
  });
  const cluster = await composeCluster({
    ...{ ...shared, bus, environment, version: packageVersion() },
    findClientAddress: createAddressFinder(settings.trustedProxies),
  });
  const accessWatch = createAccessWatch({ source: authorizationServer.accessTokens, now, logger });
  const dangerouslyFromLoopback = settings.dangerously.upstreamsOverHttp;
  const serving: ServingOptions = {
    issuer,
    serve: composeServing({
      ...{ ...shared, authorizationServer, held, box, bus, tracing },
      ...{ ledger: recording.ledger, peers: cluster.peers },
      access: watchLinkedAccess(accessWatch, standing),
      upstreams: composeCallerApi({ upstreams, links, standing, dangerouslyFromLoopback, issuer, now }),
    }),
    announce(others) {
      const fresh = composeResources(settings, others);
      checkRulesFit(settings, fresh);
      authorizationServer.replaceResources(fresh);
    },
  };
  routes.begin(placed, serving);
  watchRoutes(routes, metrics);

  const servers = () => routes.all.map(({ server: { name }, own: { mcp } }) => ({ name, mcpUrl: mcp }));
  let isStopping = false;
  const app = createApp({
    ...{ storage, logger, metrics, routes },
    publicUrl: issuer,
    isStopping: () => isStopping || cluster.isReplaced(),
    allowedOrigins: settings.allowedOrigins,
    findClientAddress: cluster.findClientAddress,
    direct: settings.trustedProxies.length === 0,
    cookieKeys: createCookieSigner(keys.cookies) as Koa['keys'],
    renderHomePage: (acceptLanguage) =>
      buildHomePage({ name: new URL(issuer).host, servers: servers(), accountUrl }, acceptLanguage),
    renderErrorPage: buildFailurePage,
    tolerate: tolerances.tolerate,
    authorizationServer: authorizationServer.middleware,
  });
  const stopKeyRotation = startKeyRotation({ ...shared, keyRing, lifetimes, box });
  const stopSweeping = startSweeper(shared);

  const replaceRoutes = (others: SettingsInput['routes']): RoutesChange => {
    const next = parseSettings({ ...input, routes: others });
    const change = routes.replace(resolve(next), serving);
    recordRoutesChange(change, { auditTrail, logger });
    cluster.showReload(next.routes);
    const fresh = [...change.added, ...change.changed];
    const freshRoutes = Object.entries(next.routes).filter(([name]) => fresh.includes(name));
    for (const advice of adviseOnRoutes(Object.fromEntries(freshRoutes))) logger.warn(advice);
    return change;
  };

  const reload = createReload({ started: settings, replaceRoutes, logger });
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
      attachTo(httpServer, { listener: cluster.serve(app.callback()), isOver: () => isStopping }, logger),
    routes: () => routes.all.map(statusOfRoute),
    replaceRoutes,
    reload(...asked) {
      const outcome = reload(...asked);
      if ('problems' in outcome) cluster.showReload(undefined);
      return outcome;
    },
    reloadOthers: cluster.reloadOthers,
    onReload: cluster.onReload,
    async close(patienceMs) {
      isStopping = true;
      stopSweeping();
      await stopKeyRotation();
      await routes.close(patienceMs);
      await cluster.close();
      accessWatch.close();
      entered.close();
      objects.close();
      await bond.close();
      await limiters.close();
      await recording.close();
      await tracing?.close();
      await auditTrail.close();
      logger.info('the server has stopped');
    },
  };
}
