import * as oauth from 'oauth4webapi';
import type { ClientContext } from '../context.ts';
import { dpopHandle } from '../dpop/dpop-handle.ts';
import {
  type ClientIdentity,
  clientAuthentication,
  exchangeOptions,
  type OAuthRefusal,
  oauthClient,
  readRefusal,
} from '../exchange.ts';
import type { CredentialIssuer, PrivateJwk } from '../stores/credential-store.ts';
import { requireUrl } from '../url-policy.ts';

/** Names of extension grants at the token endpoint (RFC 6749 section 4.5). */
export const grantTypes = {
  /** RFC 7523 section 2.1. */
  jwtBearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  /** RFC 8693 section 2.1. */
  tokenExchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
  /** RFC 8628 section 3.4. */
  deviceCode: 'urn:ietf:params:oauth:grant-type:device_code',
} as const;

/** A request at a token endpoint. */
export interface TokenRequest {
  authorizationServer: Pick<
    CredentialIssuer,
    'issuer' | 'token_endpoint' | 'token_endpoint_auth_methods_supported'
  >;
  client: ClientIdentity;
  grantType: string;
  parameters: Readonly<Record<string, string>>;
  /** The key the token is to be bound to, if any. */
  dpopKey?: PrivateJwk | undefined;
  /** Token types besides Bearer and DPoP that the answer may have, in lower case. */
  otherTokenTypes?: readonly string[];
  /** What the endpoint is called in messages. */
  name?: string;
}

/** A checked answer, or why there is none. */
export type TokenAnswer =
  | { kind: 'issued'; tokens: oauth.TokenEndpointResponse }
  | {
      kind: 'refused';
      refusal: OAuthRefusal;
      /** A refresh token that came with an answer that cannot be used otherwise: the one that was sent is used up. */
      successor?: string | undefined;
    };

/**
 * Repeats a request once where the server refused it only for want of a nonce, which it gave with the refusal.
 * @param attempt makes the request and checks the answer; it throws what oauth4webapi throws
 * @see RFC 9449 section 8 (A13-09)
 */
export async function withNonceRetry<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return attempt();
  }
}

/**
 * Asks a token endpoint for tokens, with any grant but the authorization code.
 * @param context where requests go through
 * @param request the grant
 * @returns the answer, checked, or why the server refused
 * @throws ClientError where no answer came; `bad_url`, `bad_key`
 * @see RFC 6749 sections 4.5 and 5; RFC 9449 section 5
 */
export async function requestTokens(context: ClientContext, request: TokenRequest): Promise<TokenAnswer> {
  const { authorizationServer: as, client: identity, dpopKey, otherTokenTypes = [] } = request;
  const { dangerouslyAllowHttp } = context;
  requireUrl(as.token_endpoint, 'The token endpoint', { dangerouslyAllowHttp });
  const client = oauthClient(context, identity.clientId);
  const authenticate = clientAuthentication(identity, as.token_endpoint_auth_methods_supported);
  let successor: string | undefined;
  const issued = (refreshToken: string): void => {
    successor = refreshToken;
  };
  const options = {
    ...exchangeOptions(context, { kind: 'token', issued }),
    ...(dpopKey === undefined ? {} : { DPoP: await dpopHandle(context, dpopKey) }),
  };
  const recognizedTokenTypes = Object.fromEntries(otherTokenTypes.map((type) => [type, () => undefined]));
  const { grantType, parameters, name = 'token endpoint' } = request;
  try {
    const tokens = await withNonceRetry(async () => {
      const asked = new URLSearchParams(parameters);
      const answer = await oauth.genericTokenEndpointRequest(
        as,
        client,
        authenticate,
        grantType,
        asked,
        options,
      );
      return oauth.processGenericTokenEndpointResponse(as, client, answer, {
        recognizedTokenTypes,
      });
    });
    return { kind: 'issued', tokens };
  } catch (thrown) {
    return { kind: 'refused', refusal: await readRefusal(thrown, name), successor };
  }
}
