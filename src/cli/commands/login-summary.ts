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

/**
 * What was asked for and not granted: the server does not have it, or the person left it out.
 * @param asked scopes that the user named
 * @param credential the login
 * @see RFC 6749 section 3.3
 */
export function ungrantedScopes(asked: readonly string[] = [], { scopes }: Credential): string[] {
  return scopes === undefined ? [] : asked.filter((scope) => !scopes.includes(scope));
}

/** The result of a login, as JSON, with the scopes that were asked for and not granted. */
export function summarizeLogin(
  { server }: DiscoveredServer,
  credential: Credential,
  { path, sealedWith }: TokenFileState,
  notGranted: readonly string[],
): Record<string, unknown> {
  const login = describeCredential(server, credential);
  return { ...login, notGranted, tokenFile: path, sealedWith: sealedWith ?? null };
}

/** Says where a login is kept, and how (CL-13). */
export function describeStore({ path, sealedWith, whyPlain }: TokenFileState): string {
  if (sealedWith !== undefined) return `The login is kept in ${path}, sealed with a key in ${sealedWith}`;
  const why = whyPlain === undefined ? '' : `, because it cannot be sealed: ${whyPlain}`;
  return `The login is kept in ${path}, in plain text that only you can read${why}`;
}
