import type { Context, Next } from 'koa';
import { formatScope, parseScope } from '../../oauth/scope.ts';
import type { ResourceRegistry } from '../resources.ts';

/** Longest query of an authorization request, in characters: `state` of 8 KB and the rest fit (T-020, T-022). */
const maxQueryLength = 16_384;

/**
 * Rewrites `resource` parameters to the canonical form of the resource they mean; unknown ones stay as they are and
 * the engine refuses them (trap: the engine compares them as raw strings).
 */
export function canonicalizeResources(parameters: URLSearchParams, resources: ResourceRegistry): boolean {
  const asked = parameters.getAll('resource');
  const meant = asked.map((value) => resources.find(value)?.resource ?? value);
  if (asked.every((value, index) => value === meant[index])) return false;
  parameters.delete('resource');
  for (const value of new Set(meant)) parameters.append('resource', value);
  return true;
}

/**
 * Middleware in front of the engine's authorization endpoint: bounds the query, makes resource indicators canonical,
 * and fills in the baseline scopes where the client asks for none (RFC 6749 section 3.3). `offline_access` alone asks
 * for none.
 */
export function prepareAuthorization(resources: ResourceRegistry) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.querystring.length > maxQueryLength) {
      ctx.throw(414, `The authorization request may have at most ${maxQueryLength} characters.`);
    }
    const query = new URLSearchParams(ctx.querystring);
    let changed = canonicalizeResources(query, resources);
    const asked = query.getAll('scope');
    if (asked.length < 2 && parseScope(asked[0]).every((scope) => scope === 'offline_access')) {
      const resource = resources.find(query.get('resource') ?? '') ?? resources.default;
      query.set('scope', formatScope([...resource.baselineScopes, ...parseScope(asked[0])]));
      changed = true;
    }
    if (changed) ctx.querystring = query.toString();
    await next();
  };
}
