/** Paths of MCP servers and probes, relative to the public URL's path. */
export const paths = {
  /** The MCP endpoint. Clients and proxies expect just this. */
  mcp: '/mcp',
  /** Stream of HTTP+SSE, the transport of 2024-11-05, and the endpoint for its messages. */
  sse: '/sse',
  messages: '/messages',
  /** The Rest transport. */
  rest: '/rest',
  /** Liveness and readiness probes. */
  health: '/healthz',
  readiness: '/readyz',
} as const;

/** Paths of an MCP server, below its route. They are for programs, whatever they accept. */
const serverPaths = [paths.mcp, paths.sse, paths.messages, paths.rest] as const;

/** Paths of protected resources, below their route. */
const resourcePaths = [paths.mcp, paths.sse, paths.rest] as const;

/** A route, by its path below the public URL; empty for the public URL itself. */
export interface RoutePath {
  path: string;
}

/** Lists the paths of the MCP servers of routes, relative to the public URL's path. */
export function serverPathsOf(routes: readonly RoutePath[]): string[] {
  return routes.flatMap((route) => serverPaths.map((path) => `${route.path}${path}`));
}

/** Lists the paths of the protected resources of routes, relative to the public URL's path. */
export function resourcePathsOf(routes: readonly RoutePath[]): string[] {
  return routes.flatMap((route) => resourcePaths.map((path) => `${route.path}${path}`));
}

/** Endpoints that also accept a trailing slash, besides the paths of MCP servers (A2-05). */
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

/** Paths whose first segment is a label of the request metrics. Paths of MCP servers are labels as a whole. */
export const countedPaths = [
  ...slashTolerantPaths,
  paths.health,
  paths.readiness,
  '/.well-known',
  '/interaction',
  '/account',
] as const;

/** The present routes. They may change while the server runs. */
export interface LiveRoutes<Route> {
  /** A new list after each change. */
  readonly all: readonly Route[];
}

/**
 * Derives a value from the routes, and again only if they have changed.
 * @returns a function that returns the present value
 */
export function ofRoutes<Route, Made>(
  routes: LiveRoutes<Route>,
  make: (all: readonly Route[]) => Made,
): () => Made {
  let { all } = routes;
  let made = make(all);
  return () => {
    if (routes.all !== all) {
      all = routes.all;
      made = make(all);
    }
    return made;
  };
}
