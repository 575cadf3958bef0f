import type { LiveRoutes } from '../app/live-routes.ts';
import type { AuthorizationServerOptions } from '../authorization-server/index.ts';
import type { McpEndpoint } from '../mcp/index.ts';

/** A route, as far as it is looked at. */
export interface ViewedRoute {
  server: { name: string };
  /** Identifiers of the protected resources it is. */
  own: Readonly<Record<string, string>>;
  mcpEndpoint: Pick<McpEndpoint, 'toolsOf' | 'accountSessions'>;
}

/** What the view is made of. */
export interface McpViewOptions {
  issuer: string;
  accessTokenSeconds: number;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Gives what the authorization server asks of the MCP servers in the same process: their resources, the tools that scopes
 * open, and the sessions of an account.
 * @param routes asked only when somebody else asks: the endpoints are made after the authorization server
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
      if (!route) return undefined;
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
