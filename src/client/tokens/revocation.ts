import * as oauth from 'oauth4webapi';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import {
  type ClientIdentity,
  clientAuthentication,
  exchangeOptions,
  oauthClient,
  readRefusal,
} from '../exchange.ts';
import type { Credential } from '../stores/credential-store.ts';

/**
 * Asks the issuer to end a credential: its refresh token where there is one, else its access token.
 * @param context where requests go through
 * @param credential what should end
 * @param client who it was issued to, see `holderOf`
 * @returns false where the issuer has no revocation endpoint
 * @throws ClientError `token_refused`; `server_error` at a 5xx, after which the token still exists; or that no answer came
 * @see RFC 7009 sections 2.1 and 2.2.1
 */
export async function revokeCredential(
  context: ClientContext,
  credential: Credential,
  client: ClientIdentity,
): Promise<boolean> {
  const { authorizationServer: as, clientId, accessToken, refreshToken } = credential;
  if (as.revocation_endpoint === undefined) return false;
  try {
    const response = await oauth.revocationRequest(
      as,
      oauthClient(context, clientId),
      clientAuthentication(client, as.token_endpoint_auth_methods_supported),
      refreshToken ?? accessToken,
      {
        ...exchangeOptions(context),
        additionalParameters: {
          token_type_hint: refreshToken === undefined ? 'access_token' : 'refresh_token',
        },
      },
    );
    if (response.status >= 500)
      throw new ClientError(
        'server_error',
        `The revocation endpoint answered with status ${response.status}. Try again later.`,
      );
    await oauth.processRevocationResponse(response);
    return true;
  } catch (thrown) {
    const { message } = await readRefusal(thrown, 'revocation endpoint');
    throw new ClientError('token_refused', message);
  }
}
