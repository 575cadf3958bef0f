import type { Context, Next } from 'koa';
import { pathOf, wellKnown } from '../oauth/well-known.ts';

/** Aliases of paths: where clients look, and what is served there. */
export type Aliases = ReadonlyMap<string, string>;

/**
 * The places where clients of all revisions look for our documents and endpoints, and the paths that serve them:
 * metadata in path-inserted and appended form, and, for a public URL with a path, the endpoints of 2025-03-26 at
 * the origin (A2-03, A2-04, A4-01, A4-10).
 * @param publicUrl the issuer
 * @param endpoints endpoint paths below the issuer that are also served with a trailing slash
 */
export function buildAliases(publicUrl: string, endpoints: readonly string[]): Aliases {
  const base = pathOf(publicUrl);
  const aliases = new Map<string, string>();
  for (const document of [wellKnown.authorizationServer, wellKnown.openidConfiguration]) {
    for (const path of [document, `${document}${base}`, `${base}${document}`])
      aliases.set(path, `${base}${document}`);
  }
  for (const endpoint of endpoints) {
    for (const path of [endpoint, `${base}${endpoint}`]) {
      aliases.set(path, `${base}${endpoint}`);
      aliases.set(`${path}/`, `${base}${endpoint}`);
    }
  }
  return aliases;
}

/** Middleware: serves an alias under the one path behind it, without a redirect (clients drop the bearer on redirects). */
export function resolveAliases(aliases: Aliases) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const path = aliases.get(ctx.path);
    if (path !== undefined && path !== ctx.path) ctx.path = path;
    await next();
  };
}
