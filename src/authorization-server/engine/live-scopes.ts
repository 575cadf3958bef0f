import type { Provider } from 'oidc-provider';
import instance from 'oidc-provider/lib/helpers/weak_cache.js';

/**
 * Has an engine that was made know other scopes from now on. It keeps those of its configuration in a set of its own,
 * which everything in it reads: authorization requests, metadata, and the clients it loads.
 * @param scopes all of them
 */
export function knowScopes(provider: Provider, scopes: readonly string[]): void {
  const known = instance(provider).configuration.scopes;
  known.clear();
  for (const scope of scopes) known.add(scope);
}
