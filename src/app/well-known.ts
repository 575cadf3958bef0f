import type { Context, Next } from 'koa';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import { paths } from './paths.ts';

/** Paths of protected resources, which clients may take for the issuer's. */
const resourcePaths = [paths.mcp, paths.sse, paths.rest];

/** Aliases of paths: where clients look, and what is served there. */
export type Aliases = ReadonlyMap<string, string>;

/**
 * The places where clients of all revisions look for our documents and endpoints, and the paths that serve them:
 * metadata in path-inserted and appended form, for the issuer and for the MCP endpoint taken for one, each with or
 * without a slash at its end, and, for a public URL with a path, the endpoints of 2025-03-26 at
 * the origin (A2-03, A2-04, A4-01, A4-10).
 * @param publicUrl the issuer
 * @param endpoints endpoint paths below the issuer that are also served with a trailing slash
 */
export function buildAliases(publicUrl: string, endpoints: readonly string[]): Aliases {
  const base = pathOf(publicUrl);
  const aliases = new Map<string, string>();
  const alias = (path: string, target: string): void => {
    aliases.set(path, target);
    aliases.set(`${path}/`, target);
  };
  for (const document of [wellKnown.authorizationServer, wellKnown.openidConfiguration]) {
    alias(document, `${base}${document}`);
    for (const path of ['', ...resourcePaths])
      for (const place of [`${document}${base}${path}`, `${base}${path}${document}`])
        alias(place, `${base}${document}`);
  }
  const inserted = (path: string): string => `${wellKnown.protectedResource}${base}${path}`;
  alias(wellKnown.protectedResource, inserted(paths.mcp));
  for (const path of resourcePaths) {
    alias(inserted(path), inserted(path));
    alias(`${base}${path}${wellKnown.protectedResource}`, inserted(path));
  }
  for (const endpoint of endpoints) {
    for (const path of [endpoint, `${base}${endpoint}`]) alias(path, `${base}${endpoint}`);
  }
  return aliases;
}

/** Middleware: serves an alias under the one path behind it, without a redirect (clients drop the bearer on redirects). */
export function resolveAliases(aliases: Aliases) {
  return (ctx: Context, next: Next): Promise<void> => {
    const path = aliases.get(ctx.path);
    if (path !== undefined && path !== ctx.path) ctx.path = path;
    return next();
  };
}
