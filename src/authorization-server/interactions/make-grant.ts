import type Provider from 'oidc-provider';
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
 * Makes the consent record of an authorization request, in the commit of the request.
 * @returns the engine's id of the grant
 */
export async function makeGrant(provider: Provider, asked: AskedFor, given: Given): Promise<string> {
  const { accountId, scopes, expiresIn } = given;
  const { clientId, resource } = asked;
  const grant = newGrant(provider, { accountId, clientId, expiresIn });
  for (const scope of asked.scopes) {
    const ofResource = resource.scopes[scope] !== undefined;
    const isGiven = !ofResource || scopes.has(scope);
    if (isGiven) grant.addOIDCScope(scope);
    else grant.rejectOIDCScope(scope);
    if (ofResource && isGiven) grant.addResourceScope(resource.resource, scope);
    else if (ofResource) grant.rejectResourceScope(resource.resource, scope);
  }
  return grant.save();
}
