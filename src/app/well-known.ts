import type { Context, Next } from 'koa';
import type { ToleranceName } from '../oauth/tolerances.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import { paths, type RoutePath, resourcePathsOf, serverPathsOf } from './paths.ts';

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
