import type Provider from 'oidc-provider';
import instance from 'oidc-provider/lib/helpers/weak_cache.js';

// The members of oidc-provider that are not part of its public interface, for which there is no other way. An update of the
// engine may change them: this is the file to compare then.

export {
  checkDpopReplay,
  resolveRequestedResources,
  validateDpop,
} from 'oidc-provider/lib/helpers/grants.js';

/**
 * Replaces the scopes that an engine accepts. It copies those of its configuration into one set, which it reads for
 * authorization requests, for metadata and for the clients that it loads.
 * @param scopes all scopes from now on
 */
export function setKnownScopes(provider: Provider, scopes: readonly string[]): void {
  const known = instance(provider).configuration.scopes;
  known.clear();
  for (const scope of scopes) known.add(scope);
}

/** Adds members to those that the engine stores of a login session. */
export function storeInSession({ Session }: Provider, added: readonly string[]): void {
  const members = Reflect.get(Session, 'IN_PAYLOAD') as string[];
  Object.defineProperty(Session, 'IN_PAYLOAD', { value: [...members, ...added] });
}
