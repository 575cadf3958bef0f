import type { TokenEndpointResponse } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import { isScopeToken, parseScope } from '../../oauth/scope.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import {
  type ClientIdentity,
  clientAuthentication,
  exchangeOptions,
  type OAuthRefusal,
  oauthClient,
  readRefusal,
} from '../oauth-client.ts';
import type { Credential, CredentialIssuer, PrivateJwk } from '../stores/credential-store.ts';
import { requireUrl } from '../url-policy.ts';
import { dpopHandle } from './dpop.ts';

/** Names of extension grants at the token endpoint (RFC 6749 section 4.5). */
export const grantTypes = {
  /** RFC 7523 section 2.1. */
  jwtBearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  /** RFC 8693 section 2.1. */
  tokenExchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
  /** RFC 8628 section 3.4. */
  deviceCode: 'urn:ietf:params:oauth:grant-type:device_code',
} as const;

/** A request to a token endpoint. */
export interface TokenRequest {
  authorizationServer: Pick<
    CredentialIssuer,
    'issuer' | 'token_endpoint' | 'token_endpoint_auth_methods_supported'
  >;
  client: ClientIdentity;
  grantType: string;
  parameters: Readonly<Record<string, string>>;
  /** The key to bind the token to, if any. */
  dpopKey?: PrivateJwk | undefined;
  /** Accepted token types besides Bearer and DPoP, in lower case. */
  otherTokenTypes?: readonly string[];
  /** The name of the endpoint in messages. */
  name?: string;
}

/** A checked token response, or a refusal. */
export type TokenAnswer =
  | { kind: 'issued'; tokens: oauth.TokenEndpointResponse }
  | {
      kind: 'refused';
      refusal: OAuthRefusal;
      /**
       * A refresh token of a response that is unusable otherwise: the refresh token that was sent is used up.
       */
      successor?: string | undefined;
    };

/**
 * Repeats a request once if the server rejected it only because the nonce was missing, which it sent with the
 * response.
 * @param attempt sends the request and checks the response; it throws the errors of oauth4webapi
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
 * Requests tokens with any grant except the authorization code.
 * @param context fetch, clock and limits
 * @param request the grant
 * @returns the checked response, or the refusal of the server
 * @throws ClientError if there was no response; `bad_url`, `bad_key`
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

/**
 * Revokes a credential at its issuer: the refresh token if there is one, else the access token.
 * @param context fetch, clock and limits
 * @param credential the credential to revoke
 * @param client the client that it was issued to, see `clientOf`
 * @returns false if the issuer has no revocation endpoint
 * @throws ClientError `token_refused`; `server_error` for a 5xx, after which the token still exists; or there
 *   was no response
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

/** Access tokens are renewed this long before they expire, in seconds. */
export const refreshAheadSeconds = 60;

/** The parts of a credential that are known before the token response. */
export type IssuedFor = Pick<
  Credential,
  | 'authorizationServer'
  | 'resource'
  | 'withoutResource'
  | 'clientId'
  | 'scopes'
  | 'refreshToken'
  | 'dpopKey'
  | 'grant'
  | 'workload'
> & {
  /** Epoch seconds. */
  now: number;
};

/**
 * Creates a credential from a token response.
 * @param tokens the response, checked by oauth4webapi
 * @param issued the request: `scopes` as requested, `dpopKey` if it had a proof
 * @throws ClientError `token_refused` if the token has another type than requested: bearer, or bound to
 *   `dpopKey`
 * @see RFC 6749 section 5.1; RFC 6750 section 4; RFC 9449 section 5 (A13-09)
 */
export function toCredential(tokens: TokenEndpointResponse, issued: IssuedFor): Credential {
  const { now, ...rest } = issued;
  const bound = rest.dpopKey !== undefined;
  if (tokens.token_type !== (bound ? 'dpop' : 'bearer'))
    throw new ClientError(
      'token_refused',
      bound
        ? 'The authorization server did not bind the token to the key of this client. It may not know DPoP.'
        : 'The authorization server issued a token that is no bearer token.',
    );
  return {
    ...rest,
    accessToken: tokens.access_token,
    ...(tokens.expires_in === undefined ? {} : lifeOf(tokens.expires_in, now)),
    refreshToken: tokens.refresh_token ?? rest.refreshToken,
    scopes: tokens.scope === undefined ? rest.scopes : parseScope(tokens.scope).filter(isScopeToken),
  };
}

/** Returns the metadata members that a credential stores. */
export function credentialIssuer(as: CredentialIssuer): CredentialIssuer {
  return {
    issuer: as.issuer,
    token_endpoint: as.token_endpoint,
    revocation_endpoint: as.revocation_endpoint,
    token_endpoint_auth_methods_supported: as.token_endpoint_auth_methods_supported,
  };
}

/**
 * Returns the lifetime of a token. One that lives for less than two minutes is renewed after half of it, not
 * at every request.
 */
function lifeOf(seconds: number, now: number): Pick<Credential, 'expiresAt' | 'renewAt'> {
  const renewAt = now + seconds - Math.min(refreshAheadSeconds, seconds / 2);
  return { expiresAt: now + seconds, renewAt };
}
