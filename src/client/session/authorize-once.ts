import { missingScopes, scopeUnion } from '../../oauth/scope.ts';
import { readFirstChallenge } from '../discovery/first-challenge.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import type { AuthorizationNeed, Authorizer } from './authorizer.ts';

const inFlight = new WeakMap<CredentialStore, Map<string, Promise<Credential>>>();

/** Whether a credential, found in the store by now, meets the need that the one used did not. */
function meets(
  need: AuthorizationNeed,
  credential: Credential,
  used: Credential | undefined,
  now: number,
): boolean {
  const { accessToken, expiresAt, scopes } = credential;
  if (accessToken === used?.accessToken || (expiresAt !== undefined && expiresAt <= now)) return false;
  return scopes === undefined || missingScopes(scopes, need.scopes ?? []).length === 0;
}

/** Where scopes are known that were held, a new login is for them and for those the server asks for now (A8-06, A8-07). */
function widened(need: AuthorizationNeed, held: Credential | undefined): AuthorizationNeed {
  const known = scopeUnion(held?.scopes ?? [], need.scopes ?? []);
  if (known.length === 0) return need;
  return { ...need, scopes: scopeUnion(known, readFirstChallenge(need.challenge).scopes ?? []) };
}

/**
 * Runs an authorizer once for all that wait for the same, in this process and in others on the same store: whoever
 * comes later takes the credential that the first one got. Where that allows too little, or has ended, they ask for its
 * scopes too.
 * @param store where credentials are kept
 * @param need why a credential is needed
 * @param used the credential that does not do; undefined where there was none
 * @param authorizer gets a new one, and keeps it in the store
 * @param now epoch seconds
 * @throws what the authorizer throws, to all in this process that waited for it
 * @see RFC 9700 section 4.14 (T-186, T-188)
 */
export function authorizeOnce(
  store: CredentialStore,
  need: AuthorizationNeed,
  used: Credential | undefined,
  authorizer: Authorizer,
  now: () => number,
): Promise<Credential> {
  const flights = inFlight.get(store) ?? new Map<string, Promise<Credential>>();
  inFlight.set(store, flights);
  const key = JSON.stringify([need.server, [...(need.scopes ?? [])].sort()]);
  const flying = flights.get(key);
  if (flying !== undefined) return flying;
  const flight = store
    .exclusively(JSON.stringify(['authorization', need.server]), async () => {
      const held = await store.findCredential(need.server);
      if (held !== undefined && meets(need, held, used, now())) return held;
      const before = (await store.findFormerLogin(need.server)) ?? need.before;
      return authorizer({ ...widened(need, held), before });
    })
    .finally(() => flights.delete(key));
  flights.set(key, flight);
  return flight;
}
