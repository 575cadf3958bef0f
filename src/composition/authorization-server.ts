import type { LiveRoutes } from '../app/paths.ts';
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
  type Lifetimes,
} from '../authorization-server/index.ts';
import type { McpEndpoint } from '../mcp/index.ts';
import { demandedProxy } from '../net/guarded-fetch.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Settings } from '../options.ts';
import type { NormalizedServer } from '../protected-server.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { RouteCredentials } from './route-backend.ts';

/** Parts of {@link composeAuthorizationServer}. */
export interface AuthorizationServerParts
  extends Pick<
    AuthorizationServerOptions,
    | 'issuer'
    | 'storage'
    | 'keys'
    | 'resources'
    | 'ownGrants'
    | 'upstreams'
    | 'linkStanding'
    | 'takeLogoutToken'
    | 'tolerances'
    | 'lifetimes'
    | 'limiters'
    | 'auditTrail'
    | 'logger'
    | 'now'
  > {
  settings: Pick<Settings, 'clients' | 'tokens' | 'login' | 'limits' | 'dangerously'>;
  routes: LiveRoutes<ViewedRoute & { forms?: RouteCredentials['forms'] }>;
  metrics: Pick<Metrics, 'countEvent' | 'countLimited'>;
}

/** Composes the authorization server from the settings and the parts it shares with the rest of the process. */
export function composeAuthorizationServer(parts: AuthorizationServerParts): AuthorizationServer {
  const { settings, routes, metrics, ...shared } = parts;
  const { clients, tokens, login, limits, dangerously } = settings;
  const { issuer, lifetimes, now } = shared;
  const { metadataDocuments } = clients;
  const dangerouslyFromLoopback = dangerously.fetchFromLoopback;
  return createAuthorizationServer({
    ...shared,
    ...viewMcp(routes, { issuer, accessTokenSeconds: lifetimes.accessTokenSeconds, now }),
    credentialForms: () =>
      routes.all.flatMap(({ forms = [] }) => forms).filter(({ credentials }) => credentials.length > 0),
    refreshGraceSeconds: tokens.refreshGraceSeconds,
    repeatFromOtherAddress: tokens.repeatFromOtherAddress,
    requireDpopNonce: tokens.dpop.requireNonce,
    registration: {
      policy: clients.registration,
      sealedIds: clients.sealedIds,
      redirectSchemes: clients.redirectSchemes,
    },
    ...(metadataDocuments.enabled !== false
      ? {
          clientDocuments: {
            ...metadataDocuments,
            dangerouslyFromLoopback,
            announced:
              metadataDocuments.enabled === true || dangerouslyFromLoopback ? 'always' : 'if_fetchable',
          },
        }
      : undefined),
    trustsOtherPorts: dangerously.trustOtherPorts,
    deviceLogin: login.deviceFlow,
    clientCredentials: clients.clientCredentials,
    ...(demandedProxy(process) === undefined ? { clientKeys: { dangerouslyFromLoopback } } : undefined),
    limits: composeLimits(limits),
    countEvent: metrics.countEvent,
    countLimited: metrics.countLimited,
  });
}

/**
 * Rejects settings that fetch client metadata documents while the environment demands a proxy: documents are fetched
 * directly, from addresses that were checked.
 * @throws SettingsRefused
 */
export function checkNoProxyDemanded({ clients }: Pick<Settings, 'clients'>): void {
  const proxy = clients.metadataDocuments.enabled === false ? undefined : demandedProxy(process);
  if (proxy !== undefined)
    throw new SettingsRefused([
      `clients.metadataDocuments.enabled: client metadata documents are fetched directly, but Node.js was told to use the proxy in ${proxy}; set it to false, or start without NODE_USE_ENV_PROXY and --use-env-proxy`,
    ]);
}

/** Returns the lifetimes of everything that the authorization server issues or shows, in seconds. */
export function composeLifetimes({ tokens, login }: Pick<Settings, 'tokens' | 'login'>): Lifetimes {
  const { accessTokenSeconds, codeSeconds, refreshTokenSeconds, grantSeconds } = tokens;
  const { sessionSeconds, sessionIdleSeconds, pageSeconds, deviceCodeSeconds } = login;
  return {
    accessTokenSeconds,
    codeSeconds,
    refreshTokenSeconds,
    grantSeconds,
    sessionSeconds,
    sessionIdleSeconds,
    interactionSeconds: pageSeconds,
    deviceCodeSeconds,
  };
}

/** Maps the settings under `limits` to the names that the authorization server uses. */
export function composeLimits(limits: Settings['limits']): AuthorizationServerOptions['limits'] {
  const { registrations, authorizations, deviceCodes, tokenFailures, tokensPerGrant, requests } = limits;
  const { sharedAddresses, refreshesWithoutCall } = limits;
  return {
    codes: limits.codesPerAccount,
    resets: limits.passwordResetsPerAddress,
    registrations,
    authorizations,
    deviceCodes,
    tokenFailures,
    tokensPerGrant,
    refreshesWithoutCall,
    requests,
    sharedAddresses,
    documents: {
      perAddress: limits.metadataDocuments,
      sharedAddresses,
      perTarget: limits.metadataDocumentsPerHost,
    },
    logins: {
      perAddress: limits.loginsPerAddress,
      perAccountAndAddress: limits.loginsPerAccountAndAddress,
      perAccount: limits.loginsPerAccount,
    },
  };
}

/** The parts of a route that the authorization server asks for. */
export interface ViewedRoute {
  server: Pick<NormalizedServer, 'name' | 'learns'>;
  /** Present if the server is behind the gateway. */
  backend?: unknown;
  /** Identifiers of the route's protected resources. */
  own: Readonly<Record<string, string>>;
  mcpEndpoint: Pick<McpEndpoint, 'toolsOf' | 'accountSessions'>;
}

/** Options of {@link viewMcp}. */
export interface McpViewOptions {
  issuer: string;
  accessTokenSeconds: number;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Answers the authorization server's questions about the MCP servers in this process: their resources, the tools that
 * scopes open, and the sessions of an account.
 * @param routes read at each question, because the endpoints are created after the authorization server
 */
export function viewMcp(
  routes: LiveRoutes<ViewedRoute>,
  { issuer, accessTokenSeconds, now }: McpViewOptions,
): Pick<AuthorizationServerOptions, 'toolsOf' | 'mcpConnections' | 'isServedHere'> {
  const sessionsOfAll = () => routes.all.map(({ mcpEndpoint }) => mcpEndpoint.accountSessions);
  return {
    isServedHere: (resource) => routes.all.some(({ own }) => Object.values(own).includes(resource)),
    async toolsOf({ accountId, clientId, resource, scopes }) {
      const route = routes.all.find(({ own }) => Object.values(own).includes(resource));
      // A backend that learns about its callers learns nothing before the user has decided.
      const asksNothing = route?.backend !== undefined && (route.server.learns ?? []).length > 0;
      if (!route || asksNothing) return undefined;
      const expiresAt = now() + accessTokenSeconds;
      const caller = { issuer, subject: accountId, clientId, scopes, audience: resource, expiresAt };
      return (await route.mcpEndpoint.toolsOf(caller)) ?? 'not_yet';
    },
    mcpConnections: {
      async list(subject) {
        const { all } = routes;
        const lists = await Promise.all(
          all.map(async ({ server, mcpEndpoint }) => {
            const sessions = await mcpEndpoint.accountSessions.list({ issuer, subject });
            return all.length === 1 ? sessions : sessions.map((each) => ({ ...each, server: server.name }));
          }),
        );
        return lists.flat().sort((one, other) => other.usedAt - one.usedAt);
      },
      async end(subject, key) {
        for (const sessions of sessionsOfAll()) if (await sessions.end({ issuer, subject }, key)) return true;
        return false;
      },
      async endOfGrant(subject, app) {
        await Promise.all(sessionsOfAll().map((sessions) => sessions.endOfGrant({ issuer, subject }, app)));
      },
    },
  };
}
