import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { formatScope, parseScope } from '../../oauth/scope.ts';
import type { ProtectedResource } from '../resources.ts';

/** The grant by which a client acts for itself (RFC 6749 section 4.4). */
export const clientCredentialsGrant = 'client_credentials';

/**
 * The scopes a token request is for, where it can be seen before a grant: one of a client for itself. It may ask for less
 * than the operator gave it, and gets all of that where it asks for nothing in particular (RFC 6749 section 3.3). The engine, which
 * asks for the resource first, would give it nothing then. Of what it asks for, what it may not have is left out as long as
 * something remains: MCP clients ask for every scope the resource names. The engine refuses the rest.
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
