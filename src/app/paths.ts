import type { Context, Next } from 'koa';
import type { ToleranceName } from '../oauth/tolerances.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';

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

/** Tolerances for paths outside the standards. */
type PathTolerance = Extract<ToleranceName, 'discoveryAliases' | 'defaultEndpoints' | 'trailingSlash'>;

/** The served path behind an alias. */
interface Alias {
  path: string;
  /** Undefined if a standard defines the alias. */
  tolerance?: PathTolerance;
}

/** Served paths by their aliases. */
export type Aliases = ReadonlyMap<string, Alias>;

/**
 * Builds the aliases under which clients of all revisions look for documents and endpoints (A2-03, A2-04, A4-01, A4-10).
 * Metadata has the path-inserted and the appended form, for the issuer and for MCP endpoints that a client takes for the
 * issuer, each with or without a trailing slash. A public URL with a path also has the endpoints of 2025-03-26 at its
 * origin. A client that names no path means the server at the public URL itself, or the only server.
 * @param publicUrl the issuer
 * @param endpoints endpoint paths below the issuer that also accept a trailing slash
 */
export function buildAliases(
  publicUrl: string,
  endpoints: readonly string[],
  routes: readonly RoutePath[],
): Aliases {
  const base = pathOf(publicUrl);
  const resourcePaths = resourcePathsOf(routes);
  const aliases = new Map<string, Alias>();
  const alias = (place: string, path: string, tolerance?: PathTolerance): void => {
    if (!aliases.has(place)) aliases.set(place, tolerance ? { path, tolerance } : { path });
    if (!aliases.has(`${place}/`)) aliases.set(`${place}/`, { path, tolerance: 'trailingSlash' });
  };
  for (const document of [wellKnown.authorizationServer, wellKnown.openidConfiguration]) {
    const served = `${base}${document}`;
    alias(document, served);
    alias(`${document}${base}`, served);
    alias(served, served);
    for (const path of resourcePaths)
      for (const place of [`${document}${base}${path}`, `${base}${path}${document}`])
        alias(place, served, 'discoveryAliases');
  }
  const inserted = (path: string): string => `${wellKnown.protectedResource}${base}${path}`;
  const meant = routes.length === 1 ? routes[0] : routes.find(({ path }) => path === '');
  if (meant) alias(wellKnown.protectedResource, inserted(`${meant.path}${paths.mcp}`));
  for (const path of resourcePaths) {
    alias(inserted(path), inserted(path));
    alias(`${base}${path}${wellKnown.protectedResource}`, inserted(path), 'discoveryAliases');
  }
  for (const endpoint of [...endpoints, ...serverPathsOf(routes)]) {
    alias(`${base}${endpoint}`, `${base}${endpoint}`);
    alias(endpoint, `${base}${endpoint}`, 'defaultEndpoints');
  }
  return aliases;
}

/**
 * Middleware: serves an alias without a redirect, because clients drop the bearer token on redirects.
 * @param currentAliases returns the present aliases
 * @param tolerate checks if a path outside the standards is served; gets the path as the reason
 */
export function resolveAliases(
  currentAliases: () => Aliases,
  tolerate: (tolerance: PathTolerance, because: string) => boolean,
) {
  return (ctx: Context, next: Next): Promise<void> => {
    const alias = currentAliases().get(ctx.path);
    if (!alias || (alias.tolerance && !tolerate(alias.tolerance, `asked for ${ctx.path}`))) return next();
    if (alias.path !== ctx.path) ctx.path = alias.path;
    return next();
  };
}
