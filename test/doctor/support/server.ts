import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';
import { authorizationServerRoutes } from './authorization-server.ts';
import { type Reply, type Route, type Seen, serve } from './http.ts';
import { mcpRoutes } from './mcp.ts';
import { type Rules, soundRules } from './rules.ts';

/** A server with one fault, made by changing a sound one. */
export type Fault = (server: TestServer) => void;

/** An MCP server at `/mcp` and its authorization server on one origin of loopback; every behaviour can be replaced. */
export interface TestServer {
  origin: string;
  /** URL of the MCP server. */
  url: string;
  /** The issuer: the origin, and `issuerPath` where one was given. */
  issuer: string;
  /** Switches of the token and authorization endpoints, and of the MCP endpoint. */
  rules: Rules;
  /** `GET /path` -> route. What is not listed is a JSON 404. */
  routes: Record<string, Route>;
  /** Requests in their order. */
  requests: Seen[];
  /** `GET /path` of every request. */
  asked(): string[];
  /**
   * Wraps a route: its sound answer goes through `edit`.
   * @param name `GET /path`
   */
  change(name: string, edit: (reply: Reply, seen: Seen) => Reply): void;
  /** Changes members of the JSON document of a route; `undefined` takes a member away. */
  publish(name: string, members: Record<string, unknown>): void;
  /** The key that signs access tokens. */
  key: { privateKey: CryptoKey; publicJwk: JWK };
  /** Whether a page may read answers; see `corsFor`. */
  cors: boolean;
}

/** Names of the routes that faults change most. */
export const routeNames = {
  protectedResource: 'GET /.well-known/oauth-protected-resource/mcp',
  protectedResourceAtRoot: 'GET /.well-known/oauth-protected-resource',
  authorizationServer: 'GET /.well-known/oauth-authorization-server',
  openidConfiguration: 'GET /.well-known/openid-configuration',
  mcp: 'POST /mcp',
} as const;

/** What lets pages call: the preflight of every path, and readable answers. */
function withCors(reply: Reply, seen: Seen): Reply {
  const headers: Record<string, string> = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version',
  };
  if (seen.method === 'OPTIONS') {
    headers['access-control-allow-methods'] = 'GET, POST, DELETE';
    headers['access-control-allow-headers'] = String(seen.headers['access-control-request-headers'] ?? '*');
  }
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

/**
 * Starts a server that does everything right, or everything but one thing. It stops at the end of the running test.
 * @param options `fault` changes the sound server; `issuerPath` (`/tenant`) moves the issuer off the origin; `listen`
 * is for use outside of a test
 */
export async function startServer(
  options: { fault?: Fault; issuerPath?: string; listen?: (answer: Route) => Promise<string> } = {},
): Promise<TestServer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const requests: Seen[] = [];
  const origin = await (options.listen ?? serve)(async (seen) => {
    requests.push(seen);
    const name = `${seen.method} ${seen.path}`;
    const route =
      server.routes[name] ?? server.routes[`${seen.method} ${seen.path.replace(/\/[^/]+$/, '/*')}`];
    if (!route && seen.method === 'OPTIONS')
      return server.cors ? withCors({ status: 204 }, seen) : { status: 405 };
    const reply = route ? await route(seen) : { status: 404, json: { error: 'not_found' } };
    return server.cors ? withCors(reply, seen) : reply;
  });
  const server: TestServer = {
    origin,
    url: `${origin}/mcp`,
    issuer: `${origin}${options.issuerPath ?? ''}`,
    rules: { ...soundRules },
    routes: {},
    requests,
    asked: () => requests.map(({ method, path }) => `${method} ${path}`),
    change(name, edit) {
      const sound = server.routes[name];
      if (!sound) throw new Error(`no route ${name}`);
      server.routes[name] = async (seen) => edit(await sound(seen), seen);
    },
    publish(name, members) {
      server.change(name, (reply) => ({
        ...reply,
        json: { ...(reply.json as Record<string, unknown>), ...members },
      }));
    },
    key: { privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' } },
    cors: true,
  };
  const { routes, tokens } = authorizationServerRoutes(server);
  Object.assign(server.routes, routes, mcpRoutes(server, tokens));
  options.fault?.(server);
  return server;
}
