import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { formatScope, parseScope } from '../../oauth/scope.ts';
import type { ProtectedResource } from '../resources.ts';

/** The grant by which a client acts for itself (RFC 6749 section 4.4). */
export const clientCredentialsGrant = 'client_credentials';

/**
 * Returns the scopes of a token request by which a client acts for itself, before the engine creates the grant. A
 * client may ask for fewer scopes than the operator allows, and gets all of them if it asks for none (RFC 6749 section
 * 3.3). The engine, which resolves the resource first, would then grant none. Scopes that are not allowed are dropped
 * as long as one remains: MCP clients ask for every scope that the resource names. The engine rejects the rest.
 * @returns undefined for every other request
 */
export function scopeForItself(
  { oidc }: KoaContextWithOIDC,
  client: Client,
  resource: ProtectedResource | undefined,
): string | undefined {
  const { params } = oidc;
  if (oidc.route !== 'token' || params?.grant_type !== clientCredentialsGrant) return undefined;
  const asked = params.scope as string | undefined;
  if (!resource) return asked;
  const allowed = parseScope(client.scope).filter((scope) => resource.scopes[scope] !== undefined);
  const given = asked === undefined ? allowed : parseScope(asked).filter((scope) => allowed.includes(scope));
  if (asked === undefined || given.length > 0) params.scope = formatScope(given);
  return params.scope as string | undefined;
}
