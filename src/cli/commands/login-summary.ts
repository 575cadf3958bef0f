import type { Credential, DiscoveredServer } from '../../client/index.ts';
import type { TokenFileState } from '../../client/node/index.ts';

/**
 * A credential as it may be shown: without tokens, keys and secrets (T-191).
 * @param server canonical URL of the MCP server
 * @param credential the login
 */
export function describeCredential(server: string, credential: Credential): Record<string, unknown> {
  const { authorizationServer, resource, clientId, scopes, expiresAt, refreshToken, grant, dpopKey } =
    credential;
  return {
    server,
    issuer: authorizationServer.issuer,
    resource,
    client: clientId,
    scopes: scopes ?? null,
    expiresAt: expiresAt ?? null,
    renewable: refreshToken !== undefined || grant !== undefined,
    bound: dpopKey !== undefined,
  };
}

/** The result of a login, as JSON. */
export function summarizeLogin(
  { server }: DiscoveredServer,
  credential: Credential,
  { path, sealedWith }: TokenFileState,
): Record<string, unknown> {
  return { ...describeCredential(server, credential), tokenFile: path, sealedWith: sealedWith ?? null };
}

/** Says where a login is kept, and how (CL-13). */
export function describeStore({ path, sealedWith, whyPlain }: TokenFileState): string {
  if (sealedWith !== undefined) return `The login is kept in ${path}, sealed with a key in ${sealedWith}`;
  const why = whyPlain === undefined ? '' : `, because it cannot be sealed: ${whyPlain}`;
  return `The login is kept in ${path}, in plain text that only you can read${why}`;
}
