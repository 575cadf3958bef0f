import * as oauth from 'oauth4webapi';
import { type ClientIdentity, clientAuthentication } from '../client/oauth-client.ts';
import type { OperatorRequest } from '../net/operator-fetch.ts';
import type { Ask, Asked } from './ask.ts';
import type { ServerMetadata } from './metadata.ts';
import type { UpstreamPreset } from './presets/preset.ts';

/** An upstream's server as its client needs it for requests. */
export interface UpstreamServer {
  as: oauth.AuthorizationServer;
  client: oauth.Client;
  authenticate: oauth.ClientAuth;
}

/** How a client proves itself: by what the preset knows, else by the metadata (RFC 8414 section 2). */
export function authenticationMethod(
  identity: ClientIdentity,
  metadata: ServerMetadata,
  preset: UpstreamPreset,
): 'private_key_jwt' | 'client_secret_basic' | 'client_secret_post' {
  if (identity.privateKey !== undefined) return 'private_key_jwt';
  if (preset.clientAuthentication) return preset.clientAuthentication;
  const supported = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return supported.includes('client_secret_basic') || !supported.includes('client_secret_post')
    ? 'client_secret_basic'
    : 'client_secret_post';
}

/** Puts together what a request needs. @param now epoch seconds, for assertions of the client */
export function serverFor(
  identity: ClientIdentity,
  metadata: ServerMetadata,
  preset: UpstreamPreset,
  now: number,
): UpstreamServer {
  const tokenEndpointAuthMethod = authenticationMethod(identity, metadata, preset);
  const { issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, revocation_endpoint } = metadata;
  return {
    as: { issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, revocation_endpoint },
    client: { client_id: identity.clientId, [oauth.clockSkew]: now - Math.floor(Date.now() / 1000) },
    authenticate: clientAuthentication({ ...identity, tokenEndpointAuthMethod }),
  };
}

/**
 * Options for a request by oauth4webapi: through our fetch, whose rule for https is stricter than its own.
 * @param asked what is asked, for faults
 */
export function requestOptions(
  ask: Ask,
  asked: Asked,
): {
  [oauth.customFetch]: (url: string, init: OperatorRequest) => Promise<Response>;
  [oauth.allowInsecureRequests]: true;
} {
  return {
    [oauth.customFetch]: (url, init) => ask(asked, url, init),
    [oauth.allowInsecureRequests]: true,
  };
}
