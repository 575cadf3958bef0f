import type { RequestListener, Server } from 'node:http';
import type Koa from 'koa';
import { createApp } from './app/app.ts';
import { answerMetrics } from './app/metrics-server.ts';
import {
  buildFailurePage,
  buildHomePage,
  createAuditTrail,
  createAuthorizationServer,
  createSealAnew,
  createTolerances,
  keepSettingsClients,
  keyTimes,
  startKeyCare,
} from './authorization-server/index.ts';
import { type BackendOptions, composeBackend } from './composition/backend.ts';
import { composeBond } from './composition/bond.ts';
import { composeCallerApi } from './composition/caller-api.ts';
import { composeGuards } from './composition/guards.ts';
import { holdWhileWatched } from './composition/held-access.ts';
import { composeLifetimes } from './composition/lifetimes.ts';
import { composeLimits } from './composition/limits.ts';
import { composeMcpEndpoint } from './composition/mcp-endpoint.ts';
import { viewMcp } from './composition/mcp-view.ts';
import { readOperatorRules } from './composition/operator-rules.ts';
import { composeResources, ownResources } from './composition/resources.ts';
import { startSweeper } from './composition/sweeper.ts';
import { composeUpstreams } from './composition/upstreams.ts';
import { createCookieSigner } from './crypto/cookie-signer.ts';
import type { KeyRing } from './crypto/key-ring.ts';
import type { KeySet } from './crypto/keys.ts';
import { createSealedBox } from './crypto/sealed-box.ts';
import { keyedDigest } from './crypto/secret.ts';
import { demandedProxy } from './net/proxy-environment.ts';
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
import { SettingsRefused } from './settings/settings-refused.ts';
import { adviseOnSettings } from './settings-advice.ts';
import type { Storage } from './storage/storage.ts';
import { createVault } from './upstream/vault.ts';

/** What `createGatehouse` takes: the settings of the config file, and what only code can give. */
export interface GatehouseOptions extends SettingsInput {
  /** Where clients reach this server. */
  publicUrl: string;
  storage: Storage;
  keys: KeySet;
  /** Where the keys come from, so that they can change; without it they stay as they are. */
  keyRing?: KeyRing;
  /** The MCP server behind the gate; a server of notes where none is given. */
  server?: OwnServer;
  /** A program behind the gate instead of a server: started where it is needed, over its standard input and output. */
  backend?: BackendOptions;
  /** Takes the log; JSON lines on standard error by default. */
  logger?: Logger;
}

/** A gatehouse, ready to be listened to. */
export interface Gatehouse {
  /** The Koa app. */
  app: Koa;
  /** The MCP endpoint clients are given. */
  mcpUrl: string;
  issuer: string;
  /** Serves `GET /metrics` on a port of its own: a listener for a Node HTTP server. */
  serveMetrics: RequestListener;
  /** Serves a Node HTTP server, and readies its time limits for long streams and proxies. */
  attach(server: Server): void;
  /**
   * Takes no MCP calls any more, and ends streams and background work; calls that run are answered with an error. The
   * storage stays open: it belongs to the caller.
   * @param patienceMs how long calls that run may take to end by themselves, in milliseconds; not at all by default
   */
  close(patienceMs?: number): Promise<void>;
}

/** Longer than the idle time of proxies in front, so that they, not we, close idle connections. */
const keepAliveTimeoutMs = 75_000;

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
  const { storage, keys, keyRing, server, backend: program, logger: givenLogger, ...input } = options;
  const settings = parseSettings(input);
  if (settings.publicUrl === undefined) throw new SettingsRefused(['publicUrl: is needed']);
  if (Object.keys(settings.routes).length > 0) throw new SettingsRefused(['routes: cannot be served yet']);
  const issuer = settings.publicUrl;
  const logger = givenLogger ?? createLogger(settings.log.level);
  const now = (): number => Math.floor(Date.now() / 1000);
  for (const advice of adviseOnSettings(settings)) logger.warn(advice);

  const { metadataDocuments } = settings.clients;
  if (metadataDocuments.enabled) checkNoProxyDemanded();

  const metrics = createMetrics(packageVersion());
  if (program && server) throw new SettingsRefused(['backend: goes with no server: give one of them']);
  const backend = program && composeBackend(program, { publicUrl: issuer, logger, metrics });
  const protectedServer = backend?.server ?? readOwnServer(server ?? notesServer(storage, now), issuer);
  const own = ownResources(issuer);
  const resources = composeResources(settings, Object.values(own), protectedServer);
  const lifetimes = composeLifetimes(settings);
  const tolerances = createTolerances(settings.clients.tolerances, logger);
  const box = createSealedBox(keys.sealing);
  const auditTrail = createAuditTrail({ store: storage.audit, logger, now });
  const { clients, ownGrants } = readOperatorRules(settings, resources);
  for (const clientId of await keepSettingsClients(storage.clients, box, clients, now()))
    logger.warn({ clientId }, 'a client was taken out of the settings; what was issued to it has ended');
  const upstreams = await composeUpstreams({ settings, publicUrl: issuer, resources, now });
  const vault = createVault(box, now);
  const bond = composeBond({ upstreams, storage, vault, auditTrail, metrics, logger, now });
  const authorizationServer = createAuthorizationServer({
    ...bond.options,
    upstreams: { upstreams, vault },
    issuer,
    tolerances,
    storage,
    keys,
    resources,
    ownGrants,
    ...viewMcp(() => mcp, {
      issuer,
      own: Object.values(own),
      accessTokenSeconds: lifetimes.accessTokenSeconds,
      now,
    }),
    lifetimes,
    refreshGraceSeconds: settings.tokens.refreshGraceSeconds,
    requireDpopNonce: settings.tokens.dpop.requireNonce,
    registration: { policy: settings.clients.registration, sealedIds: settings.clients.sealedIds },
    ...(metadataDocuments.enabled
      ? {
          clientDocuments: {
            ...metadataDocuments,
            dangerouslyFromLoopback: settings.dangerously.fetchFromLoopback,
          },
        }
      : undefined),
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
  const mcp = composeMcpEndpoint({
    settings,
    issuer,
    own,
    server: protectedServer,
    storage,
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
    metrics,
    auditTrail,
    logger,
    now,
  });
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
    protectedResources: composeGuards({ issuer, own, server: protectedServer, verifier, dpop }),
    renderHomePage: (acceptLanguage) =>
      buildHomePage(
        { name: protectedServer.name, mcpUrl: own.mcp, accountUrl: `${issuer}/account` },
        acceptLanguage,
      ),
    renderErrorPage: buildFailurePage,
    tolerate: tolerances.tolerate,
    authorizationServer: authorizationServer.middleware,
    mcpEndpoint: mcp,
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

  const stopSweeping = startSweeper({ storage, audit: settings.audit, logger, now });

  return {
    app,
    mcpUrl: own.mcp,
    issuer,
    serveMetrics: answerMetrics(metrics),
    attach(httpServer) {
      httpServer.keepAliveTimeout = keepAliveTimeoutMs;
      httpServer.requestTimeout = 60_000;
      httpServer.on('request', app.callback());
    },
    async close(patienceMs) {
      isStopping = true;
      stopSweeping();
      await keyCare?.close();
      await mcp.close(patienceMs);
      await backend?.close();
      accessWatch.close();
      await bond.close();
      await auditTrail.idle();
    },
  };
}
