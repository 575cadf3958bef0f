import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { datedSecret, randomSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import { type ConsentedScopes, grantedScopes, undecidedResource } from '../engine/granted-scopes.ts';
import { openPayload } from '../engine/stored-rows.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import type { AskedFor } from './interaction.ts';

/** Permissions that a user gives an app. */
export interface Given {
  accountId: string;
  /** Scopes of the resource that are given; what was asked for beside them is recorded as refused. */
  scopes: ReadonlySet<string>;
  /** For how long, in seconds. */
  expiresIn: number;
}

/**
 * Creates the grant of an authorization request, in the commit of the request. If no scope of the resource was
 * requested, the other requested scopes are stored as rejected there, because the engine stores no resource without a
 * scope. If the user chose the server, the grant also stores the undecided resource as rejected.
 * @returns the engine's id of the grant
 */
export async function makeGrant(provider: Provider, asked: AskedFor, given: Given): Promise<string> {
  const { accountId, scopes, expiresIn } = given;
  const { clientId, resource } = asked;
  const grant = newGrant(provider, { accountId, clientId, expiresIn });
  const asksForOwn = asked.scopes.some((scope) => resource.scopes[scope] !== undefined);
  for (const scope of asked.scopes) {
    const ofResource = resource.scopes[scope] !== undefined;
    const isGiven = !ofResource || scopes.has(scope);
    if (isGiven) grant.addOIDCScope(scope);
    else grant.rejectOIDCScope(scope);
    if (ofResource && isGiven) grant.addResourceScope(resource.resource, scope);
    else if (ofResource || !asksForOwn) grant.rejectResourceScope(resource.resource, scope);
  }
  if (asked.isServerChosen) grant.rejectResourceScope(undecidedResource.scoped, 'openid');
  return grant.save();
}

/** Account and client of a new grant. */
export interface NewGrant {
  accountId: string;
  clientId: string;
  /** For how long, in seconds. */
  expiresIn: number;
}

/**
 * Makes a consent record that is not saved yet. Its id begins with a date: most are used a moment after they were made, and
 * then those of one commit, and what hangs on them, stand side by side in storage.
 */
export function newGrant(provider: Provider, { accountId, clientId, expiresIn }: NewGrant) {
  const jti = datedSecret(Date.now(), randomSecret());
  return Object.assign(new provider.Grant({ accountId, clientId }), { jti, expiresIn });
}

/** Earlier consent of an account to a client at one resource that is still valid. */
export interface EarlierConsent {
  /** Names of the grants, also of those that give only what needs no scope, as {@link ArtifactStore.revokeGrant} takes them. */
  grantIds: readonly string[];
  scopes: ReadonlySet<string>;
  /** True if older grants of the client, at whatever resource, may not have been looked at. */
  mayHaveMore: boolean;
}

/**
 * Looks up what an account has allowed a client at a resource.
 * @param newest how many of its grants at any resource are looked at, from the newest on; all if it is left out
 */
export type AllowedBefore = (
  accountId: string,
  clientId: string,
  resource: string,
  newest?: number,
) => Promise<EarlierConsent>;

/**
 * Creates the search for earlier consents. It only informs the user: an equal identifier does not prove the same app,
 * so consent is always asked (T-025).
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

/**
 * Ends the earlier grants of the client at this resource, in the commit of this decision, if the user requests it.
 * Installations of one client share its identifier, and each has its own grant.
 */
export async function endEarlier(
  ctx: Context,
  { allowedBefore, audit }: { allowedBefore: AllowedBefore; audit: AuditLog },
  accountId: string,
  { clientId, resource }: AskedFor,
): Promise<void> {
  const { grantIds } = await allowedBefore(accountId, clientId, resource.resource);
  for (const id of grantIds) currentWriteSet()?.add({ type: 'removeGrant', id });
  if (grantIds.length > 0) audit('grant.revoked', ctx, { accountId, clientId, reason: 'ended_at_consent' });
}
