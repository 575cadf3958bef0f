/** Paths served outside of the doors, relative to the public URL's path. */
export const paths = {
  /** The MCP endpoint. Clients and proxies expect just this. */
  mcp: '/mcp',
  /** Stream of HTTP+SSE, the transport of 2024-11-05, and where its messages are posted. */
  sse: '/sse',
  messages: '/messages',
  /** The Rest transport. */
  rest: '/rest',
  /** Whether the process lives, and whether it should get requests. */
  health: '/healthz',
  readiness: '/readyz',
} as const;

/** Paths of an MCP server, below its route: for programs, whatever they accept. */
const serverPaths = [paths.mcp, paths.sse, paths.messages, paths.rest] as const;

/** Paths of protected resources, below their route. */
const resourcePaths = [paths.mcp, paths.sse, paths.rest] as const;

/** A route, by its path below the public URL; empty for the public URL itself. */
export interface RoutePath {
  path: string;
}

/** The paths at which MCP servers are, by their routes, relative to the public URL's path. */
export function serverPathsOf(routes: readonly RoutePath[]): string[] {
  return routes.flatMap((route) => serverPaths.map((path) => `${route.path}${path}`));
}

/** The paths of the protected resources that are served here, by their routes, relative to the public URL's path. */
export function resourcePathsOf(routes: readonly RoutePath[]): string[] {
  return routes.flatMap((route) => resourcePaths.map((path) => `${route.path}${path}`));
}

/** Endpoints that answer with a trailing slash as well, beside those of MCP servers (A2-05). */
export const slashTolerantPaths = [
  '/authorize',
  '/token',
  '/register',
  '/revoke',
  '/introspect',
  '/jwks',
  '/device',
  '/device/auth',
  '/par',
  '/session/end',
] as const;

/** Paths under which requests are counted, by their first segment; those of MCP servers are counted whole. */
export const countedPaths = [
  ...slashTolerantPaths,
  paths.health,
  paths.readiness,
  '/.well-known',
  '/interaction',
  '/account',
] as const;
