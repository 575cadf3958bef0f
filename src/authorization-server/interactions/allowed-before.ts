import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { type ConsentedScopes, grantedScopes } from '../engine/granted-scopes.ts';
import { openPayload } from '../engine/stored-names.ts';

/** What an account has allowed a client before, at one resource, and what the client can still use. */
export interface EarlierConsent {
  /** Names of the grants, also of those that give only what needs no scope, as {@link ArtifactStore.revokeGrant} takes them. */
  grantIds: readonly string[];
  scopes: ReadonlySet<string>;
  /** Whether older grants of the client, at whatever resource, may not have been looked at. */
  mayHaveMore: boolean;
}

/**
 * Looks up what an account has allowed a client at a resource.
 * @param newest how many of its grants at any resource are looked at, from the newest on; all where it is left out
 */
export type AllowedBefore = (
  accountId: string,
  clientId: string,
  resource: string,
  newest?: number,
) => Promise<EarlierConsent>;

/**
 * Creates the look at earlier consents. It is for the person to read and decides nothing: the same identifier does not
 * prove the same app, so consent is asked whatever was given before (T-025).
 * @param now epoch seconds
 */
export function createAllowedBefore(
  artifacts: Pick<ArtifactStore, 'listLiveGrants'>,
  box: SealedBox,
  now: () => number,
): AllowedBefore {
  return async (accountId, clientId, resource, newest) => {
    const grants = await artifacts.listLiveGrants(accountId, clientId, now(), newest);
    const given = grants
      .map(({ id, payload }) => {
        const opened = openPayload<ConsentedScopes>(box, 'Grant', { id, payload });
        return { id, scopes: grantedScopes(opened)[resource] };
      })
      .filter((grant) => grant.scopes !== undefined);
    return {
      grantIds: given.map(({ id }) => id),
      scopes: new Set(given.flatMap(({ scopes = [] }) => scopes)),
      mayHaveMore: grants.length === newest,
    };
  };
}
