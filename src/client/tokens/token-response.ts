import type { TokenEndpointResponse } from 'oauth4webapi';
import { isScopeToken, parseScope } from '../../oauth/scope.ts';
import { ClientError } from '../client-error.ts';
import type { Credential, CredentialIssuer } from '../stores/credential-store.ts';

/** An access token is renewed when it has less than this left, in seconds. */
export const refreshAheadSeconds = 60;

/** What is known of a credential before the answer to its request is. */
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
 * Makes a credential of a token response.
 * @param tokens the response, checked by oauth4webapi
 * @param issued what the request was about: `scopes` as asked for, `dpopKey` where a proof went with it
 * @throws ClientError `token_refused` for a token that is not of the kind asked for: bearer, or bound to `dpopKey`
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

/**
 * What a credential keeps of its authorization server.
 * @param as metadata that was checked
 */
export function credentialIssuer(as: CredentialIssuer): CredentialIssuer {
  return {
    issuer: as.issuer,
    token_endpoint: as.token_endpoint,
    revocation_endpoint: as.revocation_endpoint,
    token_endpoint_auth_methods_supported: as.token_endpoint_auth_methods_supported,
  };
}

/** A token that lives for less than two minutes is renewed in the middle of its life, not at every request. */
function lifeOf(seconds: number, now: number): Pick<Credential, 'expiresAt' | 'renewAt'> {
  const renewAt = now + seconds - Math.min(refreshAheadSeconds, seconds / 2);
  return { expiresAt: now + seconds, renewAt };
}
