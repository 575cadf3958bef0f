import type { RequestListener, Server } from 'node:http';
import type Koa from 'koa';
import { createApp, type GuardedResource } from './app/app.ts';
import { answerMetrics } from './app/metrics-server.ts';
import { paths } from './app/paths.ts';
import {
  buildFailurePage,
  buildHomePage,
  checkExchangeRules,
  checkTrustedIssuers,
  createAuditTrail,
  createAuthorizationServer,
  createPrincipalLimit,
  createSealAnew,
  createTolerances,
  keepSettingsClients,
  keyTimes,
  readSettingsClients,
  startKeyCare,
  type TrustedIssuer,
} from './authorization-server/index.ts';
import { createCookieSigner } from './crypto/cookie-signer.ts';
import type { KeyRing } from './crypto/key-ring.ts';
import type { KeySet } from './crypto/keys.ts';
import { createSealedBox } from './crypto/sealed-box.ts';
import { keyedDigest } from './crypto/secret.ts';
import { createTextSeal } from './crypto/text-seal.ts';
import { createMcpEndpoint } from './mcp/index.ts';
import { demandedProxy } from './net/proxy-environment.ts';
import { notesServer } from './notes-server.ts';
import { clientCredentialsExtension, enterpriseManagedExtension } from './oauth/mcp-extensions.ts';
import { protectedResourceMetadataUrl } from './oauth/well-known.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { parseSettings, type SettingsInput } from './options.ts';
import { packageVersion } from './package-version.ts';
import { type OwnServer, readOwnServer } from './protected-server.ts';
import {
  buildProtectedResource,
  createAccessWatch,
  createDpopNonces,
  createLocalVerifier,
  createRequireBearer,
  type DpopPolicy,
} from './resource-server/index.ts';
import { completeResources, findOwnResources } from './settings/resources.ts';
import { SettingsRefused } from './settings/settings-refused.ts';
import { adviseOnSettings } from './settings-advice.ts';
import type { Storage } from './storage/storage.ts';

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

/** How often expired rows are swept. */
const sweepIntervalMs = 60_000;

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
  const { storage, keys, keyRing, server, logger: givenLogger, ...input } = options;
  const settings = parseSettings(input);
  if (settings.publicUrl === undefined) throw new SettingsRefused(['publicUrl: is needed']);
  const issuer = settings.publicUrl;
  const logger = givenLogger ?? createLogger(settings.log.level);
  const now = (): number => Math.floor(Date.now() / 1000);
  for (const advice of adviseOnSettings(settings)) logger.warn(advice);

  const { metadataDocuments } = settings.clients;
  if (metadataDocuments.enabled) checkNoProxyDemanded();

  const metrics = createMetrics(packageVersion());
  const protectedServer = readOwnServer(server ?? notesServer(storage, now), issuer);
  const { baselineScopes } = protectedServer;
  const mcpUrl = `${issuer}${paths.mcp}`;
  const guarded = { mcp: mcpUrl, sse: `${issuer}${paths.sse}`, rest: `${issuer}${paths.rest}` };
  const own = Object.values(guarded);
  const misplaced = findOwnResources(settings.resources, own);
  if (misplaced.length > 0) throw new SettingsRefused(misplaced);

  const lifetimes = {
    ...settings.tokens,
    sessionSeconds: settings.login.sessionSeconds,
    sessionIdleSeconds: settings.login.sessionIdleSeconds,
    interactionSeconds: settings.login.pageSeconds,
    deviceCodeSeconds: settings.login.deviceCodeSeconds,
  };
  const tolerances = createTolerances(settings.clients.tolerances, logger);
  const box = createSealedBox(keys.sealing);
  const auditTrail = createAuditTrail({ store: storage.audit, logger, now });
  const preRegistered = readSettingsClients(settings.clients.preRegistered, {
    scopes: [
      ...new Set([protectedServer, ...settings.resources].flatMap(({ scopes }) => Object.keys(scopes))),
    ],
    clientCredentials: settings.clients.clientCredentials,
    trustedIssuers: settings.trustedIssuers.length > 0,
    tokenExchange: settings.tokenExchange.length > 0,
  });
  if (preRegistered.problems.length > 0) throw new SettingsRefused(preRegistered.problems);
  for (const clientId of await keepSettingsClients(storage.clients, box, preRegistered.clients, now()))
    logger.warn({ clientId }, 'a client was taken out of the settings; what was issued to it has ended');
  const resources = [
    ...own.map((resource) => ({
      ...protectedServer,
      resource,
      dpopRequired: settings.tokens.dpop.required,
      accessTokenFormat: settings.tokens.format,
    })),
    ...completeResources(settings.resources),
  ];
  const ownGrants = {
    trustedIssuers: settings.trustedIssuers as readonly TrustedIssuer[],
    tokenExchange: settings.tokenExchange,
  };
  const misfits = [
    ...checkTrustedIssuers(ownGrants.trustedIssuers, resources),
    ...checkExchangeRules(ownGrants.tokenExchange, resources),
  ];
  if (misfits.length > 0) throw new SettingsRefused(misfits);
  const authorizationServer = createAuthorizationServer({
    issuer,
    tolerances,
    storage,
    keys,
    resources,
    ownGrants,
    toolsOf: async ({ accountId, clientId, resource, scopes }) =>
      own.includes(resource)
        ? mcp.toolsOf({
            issuer,
            subject: accountId,
            clientId,
            scopes,
            audience: resource,
            expiresAt: now() + lifetimes.accessTokenSeconds,
          })
        : undefined,
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
    mcpConnections: {
      list: (subject) => mcp.accountSessions.list({ issuer, subject }),
      end: (subject, key) => mcp.accountSessions.end({ issuer, subject }, key),
      endOfClient: (subject, clientId) => mcp.accountSessions.endOfClient({ issuer, subject }, clientId),
    },
    limits: {
      codes: settings.limits.codesPerAccount,
      resets: settings.limits.passwordResetsPerAddress,
      registrations: settings.limits.registrations,
      authorizations: settings.limits.authorizations,
      deviceCodes: settings.limits.deviceCodes,
      tokenFailures: settings.limits.tokenFailures,
      tokensPerGrant: settings.limits.tokensPerGrant,
      requests: settings.limits.requests,
      sharedAddresses: settings.limits.sharedAddresses,
      documents: {
        perAddress: settings.limits.metadataDocuments,
        sharedAddresses: settings.limits.sharedAddresses,
        perTarget: settings.limits.metadataDocumentsPerHost,
      },
      logins: {
        perAddress: settings.limits.loginsPerAddress,
        perAccountAndAddress: settings.limits.loginsPerAccountAndAddress,
        perAccount: settings.limits.loginsPerAccount,
      },
    },
    logger,
    countEvent: metrics.countEvent,
    countLimited: metrics.countLimited,
    auditTrail,
    now,
  });
  const accessWatch = createAccessWatch({ source: authorizationServer.accessTokens, now, logger });
  const mcp = createMcpEndpoint({
    source: protectedServer.source,
    scopeRules: protectedServer.scopeRules,
    extensions: [
      ...(settings.clients.clientCredentials ? [clientCredentialsExtension] : []),
      ...(ownGrants.trustedIssuers.some(({ identityAssertions }) => identityAssertions)
        ? [enterpriseManagedExtension]
        : []),
    ],
    urls: {
      mcp: new URL(guarded.mcp),
      sse: new URL(guarded.sse),
      messages: new URL(`${issuer}${paths.messages}`),
      rest: new URL(guarded.rest),
    },
    maxBodyBytes: settings.mcp.maxBodyBytes,
    sessions: settings.mcp.sessions,
    sessionLimits: {
      maxPerPrincipal: settings.mcp.maxSessionsPerPrincipal,
      maxTotal: settings.mcp.maxSessions,
      idleSeconds: settings.mcp.sessionIdleSeconds,
      eventSeconds: settings.mcp.eventSeconds,
      maxEvents: settings.mcp.maxEventsPerSession,
      maxBytes: settings.mcp.maxEventBytesPerSession,
    },
    principalLimits: settings.mcp,
    ...(settings.limits.mcpRequests && {
      requestLimit: createPrincipalLimit({
        name: 'mcpRequests',
        limit: settings.limits.mcpRequests,
        auditTrail,
        logger,
        countEvent: metrics.countEvent,
        countLimited: metrics.countLimited,
      }),
    }),
    store: storage.mcpSessions,
    access: accessWatch,
    seal: createTextSeal(box),
    now,
    logger,
  });
  metrics.watch('gatehouse_mcp_sessions', 'MCP sessions this process holds.', () => mcp.load().sessions);
  metrics.watch('gatehouse_mcp_calls_running', 'MCP calls that run.', () => mcp.load().calls);
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
  const guard = (resource: string): GuardedResource => ({
    metadata: buildProtectedResource({
      resource,
      authorizationServers: [issuer],
      scopesSupported: baselineScopes,
      name: protectedServer.name,
      dpop,
    }),
    requireBearer: createRequireBearer({
      verifier,
      resource,
      resourceMetadataUrl: protectedResourceMetadataUrl(resource),
      baselineScopes,
      dpop,
    }),
  });
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
    protectedResources: { mcp: guard(guarded.mcp), sse: guard(guarded.sse), rest: guard(guarded.rest) },
    renderHomePage: (acceptLanguage) =>
      buildHomePage({ name: protectedServer.name, mcpUrl, accountUrl: `${issuer}/account` }, acceptLanguage),
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

  const sweeper = setInterval(() => {
    storage
      .sweepExpired(now())
      .then(() =>
        storage.audit.prune({
          before: now() - settings.audit.keepDays * 86_400,
          maxRows: settings.audit.maxEvents,
        }),
      )
      .catch((error) => logger.warn({ err: error }, 'expired rows could not be swept'));
  }, sweepIntervalMs);
  sweeper.unref();

  return {
    app,
    mcpUrl,
    issuer,
    serveMetrics: answerMetrics(metrics),
    attach(httpServer) {
      httpServer.keepAliveTimeout = keepAliveTimeoutMs;
      httpServer.requestTimeout = 60_000;
      httpServer.on('request', app.callback());
    },
    async close(patienceMs) {
      isStopping = true;
      clearInterval(sweeper);
      await keyCare?.close();
      await mcp.close(patienceMs);
      accessWatch.close();
      await auditTrail.idle();
    },
  };
}
