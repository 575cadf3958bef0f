import type Provider from 'oidc-provider';
import { undecidedResource } from '../engine/granted-scopes.ts';
import { newGrant } from '../engine/new-grant.ts';
import type { AskedFor } from './interaction.ts';

/** What a person gives an app. */
export interface Given {
  accountId: string;
  /** Scopes of the resource that are given; what was asked for beside them is recorded as refused. */
  scopes: ReadonlySet<string>;
  /** For how long, in seconds. */
  expiresIn: number;
}

/**
 * Makes the consent record of an authorization request, in the commit of the request. It names the resource also where
 * none of its scopes was asked for, by what else was: the engine keeps no resource without a scope, given or refused.
 * A server that the person chose is noted as the undecided resource refused.
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
