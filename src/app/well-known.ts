import type { Context, Next } from 'koa';
import type { ToleranceName } from '../oauth/tolerances.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import { paths, type RoutePath, resourcePathsOf, serverPathsOf } from './paths.ts';

/** The tolerances by which a path of no standard is served. */
type PathTolerance = Extract<ToleranceName, 'discoveryAliases' | 'defaultEndpoints' | 'trailingSlash'>;

/** Another path for one that is served. */
interface Alias {
  path: string;
  /** Undefined where a standard has clients look there. */
  tolerance?: PathTolerance;
}

/** Aliases of paths: where clients look, and what is served there. */
export type Aliases = ReadonlyMap<string, Alias>;

/**
 * The places where clients of all revisions look for our documents and endpoints, and the paths that serve them:
 * metadata in path-inserted and appended form, for the issuer and for the MCP endpoints taken for one, each with or
 * without a slash at its end, and, for a public URL with a path, the endpoints of 2025-03-26 at
 * the origin (A2-03, A2-04, A4-01, A4-10). A client that names no path at all means the server at the public URL
 * itself, or the only one there is.
 * @param publicUrl the issuer
 * @param endpoints endpoint paths below the issuer that are also served with a trailing slash
 * @param routes where MCP servers are
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
 * Middleware: serves an alias under the one path behind it, without a redirect (clients drop the bearer on redirects).
 * @param currentAliases gives those of now
 * @param tolerate whether a path of no standard is served as well; it is told the path
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
