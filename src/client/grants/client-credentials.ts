import type { ClientContext } from '../context.ts';
import type { ClientIdentity } from '../exchange.ts';
import type { Authorizer } from '../session/authorizer.ts';
import type { RepeatableGrant } from '../stores/credential-store.ts';
import { type GrantLogin, type GrantLoginOptions, grantAuthorizer, loginWithGrant } from './grant-login.ts';

/** What the caller of a client credentials grant chooses. */
export interface ClientCredentialsOptions extends GrantLoginOptions {
  /** The client, registered beforehand, with a secret or a private key. */
  client: ClientIdentity;
}

/** @returns what is kept to repeat the grant with; undefined for a key that no store can hold */
function repeatableWith(client: ClientIdentity): RepeatableGrant | undefined {
  const { clientSecret, privateKey, tokenEndpointAuthMethod } = client;
  if (privateKey !== undefined && !('kty' in privateKey)) return undefined;
  return { type: 'client_credentials', clientSecret, privateKey, tokenEndpointAuthMethod };
}

/**
 * Logs a machine in to an MCP server, as itself. The client's secret or key is kept in the credential, so that whoever
 * uses the store can go on when the token ends; a `CryptoKey` is not kept, and only the authorizer can go on.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the client, and where the credential is kept
 * @throws as {@link loginWithGrant}; ClientError `bad_key`
 * @see RFC 6749 section 4.4; RFC 7523 section 2.2 (A13-01, A13-02)
 */
export function loginWithClientCredentials(
  context: ClientContext,
  url: string,
  options: ClientCredentialsOptions,
): Promise<GrantLogin> {
  const { client } = options;
  return loginWithGrant(context, url, options, () => ({
    client,
    grantType: 'client_credentials',
    parameters: {},
    repeatable: repeatableWith(client),
  }));
}

/** @returns an authorizer that runs {@link loginWithClientCredentials} */
export function clientCredentialsAuthorizer(
  context: ClientContext,
  options: ClientCredentialsOptions,
): Authorizer {
  return grantAuthorizer(options, (url, chosen) => loginWithClientCredentials(context, url, chosen));
}
