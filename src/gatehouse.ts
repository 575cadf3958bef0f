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
} from './authorization-server/index.ts';
import { allEnded, endInOrder } from './collections/closing.ts';
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
import { createReload, createRouteReplacement } from './composition/reload.ts';
import { type BackendParts, createRouteResolver } from './composition/resolve-routes.ts';
import {
  checkRulesFit,
  composeResources,
  keepOperatorClients,
  readOperatorRules,
} from './composition/resources.ts';
import type { RouteCredentialsParts } from './composition/route-backend.ts';
import {
  createServedRoutes,
  placeServer,
  type ServingOptions,
  statusOfRoute,
  watchRoutes,
} from './composition/served-routes.ts';
import { composeTelemetry } from './composition/telemetry.ts';
import { startUpkeep } from './composition/upkeep.ts';
import { composeUpstreamAccess, laterAccess, watchLinkedAccess } from './composition/upstreams.ts';
import { createSealedBox, createTextSeal } from './crypto/sealed-box.ts';
import { createCookieSigner, keyedDigest } from './crypto/secret.ts';
import { checkGivenParts, type Gatehouse, type GatehouseOptions, partNames } from './gatehouse-interface.ts';
import { notesServer } from './notes-server.ts';
import { createLogger } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { parseSettings } from './options.ts';
import { packageVersion } from './package-files.ts';
import { createAccessWatch } from './resource-server/index.ts';
import { makeAll, SettingsRefused } from './settings/issues.ts';
import { adviseOnOwnServer, adviseOnSettings } from './settings-advice.ts';

/**
 * Creates a gatehouse: authorization server, resource server and MCP endpoints under one public URL.
 * @throws SettingsRefused naming every problem; nothing stays open then
 */
export async function createGatehouse(options: GatehouseOptions): Promise<Gatehouse> {
  const opened: (() => Promise<void>)[] = [];
  return composeGatehouse(options, opened).catch(async (error: unknown) => {
    for (const close of opened.reverse()) await close().catch(() => undefined);
    throw error;
  });
}

/** @param opened gets the functions that close what others would miss if a later step fails */
async function composeGatehouse(
  options: GatehouseOptions,
  opened: (() => Promise<void>)[],
): Promise<Gatehouse> {
  checkGivenParts(options);
  const { storage, keys, keyRing, server, backend, logger: givenLogger, ...input } = options;
  const settings = parseSettings(input, partNames);
  if (settings.publicUrl === undefined) throw new SettingsRefused(['publicUrl: is required']);
  const issuer = settings.publicUrl;
  const logger = givenLogger ?? createLogger(settings.log.level);
  const now = (): number => Math.floor(Date.now() / 1000);
  const program = { environment: process.env, version: packageVersion() };
  const metrics = createMetrics(program.version);
  const { tracing, close: endTelemetry } = await composeTelemetry({ ...program, settings, metrics, logger });
  opened.push(endTelemetry);
  for (const advice of adviseOnSettings(settings)) logger.warn(advice);
  checkNoProxyDemanded(settings);

  const auditTrail = createAuditTrail({ store: storage.audit, logger, now });
  const limiters = createLimiters({ counters: storage.counters, keys, logger });
  const shared = { issuer, settings, storage, keys, auditTrail, limiters, metrics, logger, now };
  const box = createSealedBox(keys.sealing);
  const held = composeHeldBytes(settings.limits, metrics, logger);
  const bus = composeBus(shared);
  const recording = composeLedger({ ...shared, ...program });
  opened.push(recording.close);
  const entered = await composeEnteredCredentials({ store: storage.backendCredentials, box, logger });
  const objects = createBackendObjects({ storage, key: keys.audit, logger, now });
  const backendParts: BackendParts & RouteCredentialsParts = {
    ...{ ...program, issuer, objects, held, entered, bus, tracing, logger, now },
    sharing: limiters.sharing,
    pinDefinitions: composeDefinitionMemory({ ...shared, bus }),
    seal: createTextSeal(box),
    assertions: { issuer, signing: keys.signing, now },
    upstreams: Object.keys(settings.upstreams),
    ...laterAccess(() => access),
  };
  const otherwise = notesServer(storage, now, Buffer.from(keyedDigest(keys.audit, 'cursors'), 'base64url'));
  const resolve = createRouteResolver({ server, backend, otherwise }, backendParts);
  const placed = makeAll(resolve(settings).map((route) => () => placeServer(route, issuer)));
  const ownServer = server && placed.find(({ backend: elsewhere }) => !elsewhere)?.server;
  for (const advice of ownServer ? adviseOnOwnServer(ownServer) : []) logger.warn(advice);

  const routes = createServedRoutes(logger);
  const resources = composeResources(settings, placed);
  const { clients, ownGrants } = readOperatorRules(settings, resources);
  const lifetimes = composeLifetimes(settings);
  const tolerances = createTolerances(settings.clients.tolerances, logger);
  // A server that others refuse changes nothing before.
  const cluster = await composeCluster({
    ...{ ...shared, ...program, bus },
    findClientAddress: createAddressFinder(settings.trustedProxies),
  });
  opened.push(cluster.abandon);
  await keepOperatorClients({ ...shared, clients, box });
  const access = await composeUpstreamAccess({ ...shared, ...program, box, resources });
  const { bond } = access;
  const authorizationServer = composeAuthorizationServer({
    ...shared,
    ...bond.options,
    ...{ routes, resources, ownGrants, tolerances, lifetimes },
    upstreams: access,
  });
  const accessWatch = createAccessWatch({ source: authorizationServer.accessTokens, now, logger });
  const serving: ServingOptions = {
    issuer,
    serve: composeServing({
      ...{ ...shared, authorizationServer, held, box, bus, tracing },
      ...{ ledger: recording.ledger, peers: cluster.peers, lease: cluster.lease },
      access: watchLinkedAccess(accessWatch, bond.standing),
      upstreams: access.callerApi,
    }),
    announce(others) {
      const fresh = composeResources(settings, others);
      checkRulesFit(settings, fresh);
      authorizationServer.replaceResources(fresh);
    },
  };
  routes.begin(placed, serving);
  opened.push(() => routes.close());
  watchRoutes(routes, metrics);

  const servers = () => routes.all.map(({ server: { name }, own: { mcp } }) => ({ name, mcpUrl: mcp }));
  const home = { name: new URL(issuer).host, accountUrl: `${issuer}/account` };
  let isStopping = false;
  const app = createApp({
    ...{ storage, logger, metrics, routes },
    publicUrl: issuer,
    isStopping: () => isStopping || cluster.isReplaced(),
    allowedOrigins: settings.allowedOrigins,
    findClientAddress: cluster.findClientAddress,
    direct: settings.trustedProxies.length === 0,
    cookieKeys: createCookieSigner(keys.cookies) as Koa['keys'],
    renderHomePage: (acceptLanguage) => buildHomePage({ ...home, servers: servers() }, acceptLanguage),
    renderErrorPage: buildFailurePage,
    tolerate: tolerances.tolerate,
    authorizationServer: authorizationServer.middleware,
  });
  const stopUpkeep = startUpkeep({ ...shared, keyRing, lifetimes, box });
  const replaceRoutes = createRouteReplacement({ ...shared, input, resolve, routes, serving, cluster });
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
    reload: createReload({ started: settings, replaceRoutes, cluster, logger }),
    reloadOthers: cluster.reloadOthers,
    onReload: cluster.onReload,
    async close(patienceMs) {
      isStopping = true;
      const parts = [cluster, accessWatch, entered, objects, bond, limiters, recording, auditTrail];
      await endInOrder([
        stopUpkeep,
        () => allEnded([routes.close(patienceMs), cluster.drain(patienceMs)]),
        ...parts.map((part) => () => part.close()),
        () => logger.info('the server has stopped'),
        endTelemetry,
      ]);
    },
  };
}
