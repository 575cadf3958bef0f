import * as oauth from 'oauth4webapi';
import { type ClientIdentity, clientAuthentication } from '../client/building-blocks.ts';
import type { OperatorRequest } from '../net/operator-fetch.ts';
import { parseObject } from '../oauth/foreign-json.ts';
import { type Ask, type Asked, kindOf } from './ask.ts';
import type { ServerMetadata } from './metadata.ts';
import type { UpstreamPreset } from './presets.ts';
import type { UpstreamTokens } from './upstream.ts';
import { UpstreamFault } from './upstream-fault.ts';

/** An upstream's server, prepared for requests of oauth4webapi. */
export interface UpstreamServer {
  as: oauth.AuthorizationServer;
  client: oauth.Client;
  authenticate: oauth.ClientAuth;
}

/**
 * Returns the client authentication method: that of the preset, else by the metadata (RFC 8414 section 2).
 */
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

/**
 * Prepares the requests to an upstream.
 * @param now epoch seconds, for assertions of the client
 */
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
 * Returns the options for a request of oauth4webapi: through our fetch, whose rule for https is stricter than
 * its own.
 * @param asked the endpoint, for faults
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

/** Options of {@link revokeTokens}. */
export interface RevocationContext {
  /** Name of the upstream. */
  name: string;
  preset: UpstreamPreset;
  ask: Ask;
  identity: ClientIdentity;
  server: UpstreamServer;
  /** Its revocation endpoint; `{client_id}` is replaced. */
  endpoint: string;
}

/** Statuses for an unknown token, which counts as revoked (RFC 7009 section 2.2). */
const goneStatuses = [404, 422];

async function revokeByStandard(context: RevocationContext, tokens: UpstreamTokens): Promise<boolean> {
  const { ask, server, endpoint } = context;
  const [token, hint] =
    tokens.refreshToken === undefined
      ? [tokens.accessToken, 'access_token']
      : [tokens.refreshToken, 'refresh_token'];
  const answer = await oauth.revocationRequest(
    { ...server.as, revocation_endpoint: endpoint },
    server.client,
    server.authenticate,
    token,
    {
      ...requestOptions(ask, 'revocation endpoint'),
      additionalParameters: { token_type_hint: hint },
    },
  );
  if (answer.ok) return true;
  // Google's error for an unknown token.
  return answer.status === 400 && parseObject(await answer.text())?.error === 'invalid_token';
}

async function revokeByDelete(context: RevocationContext, { accessToken }: UpstreamTokens): Promise<boolean> {
  const { ask, endpoint, identity } = context;
  const headers = {
    authorization: `Basic ${btoa(`${identity.clientId}:${identity.clientSecret ?? ''}`)}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ access_token: accessToken });
  const url = endpoint.replace('{client_id}', encodeURIComponent(identity.clientId));
  const { ok, status } = await ask('revocation endpoint', url, { method: 'DELETE', headers, body });
  return ok || goneStatuses.includes(status);
}

async function revokeByBearer(context: RevocationContext, { accessToken }: UpstreamTokens): Promise<boolean> {
  const { ask, endpoint, preset } = context;
  const headers = { authorization: `Bearer ${accessToken}` };
  const answer = await ask('revocation endpoint', endpoint, { method: 'POST', headers });
  const body = parseObject(await answer.text());
  return body?.ok === true || preset.deadTokenErrors?.some((error) => error === body?.error) === true;
}

const ways = {
  standard: revokeByStandard,
  delete_with_json: revokeByDelete,
  bearer: revokeByBearer,
} as const;

/**
 * Revokes tokens: the refresh token, which ends all, else the access token (RFC 7009), or in the way of the
 * preset.
 * @throws UpstreamFault if the upstream did not revoke them
 */
export async function revokeTokens(context: RevocationContext, tokens: UpstreamTokens): Promise<void> {
  const { name, preset } = context;
  if (await ways[preset.revocation ?? 'standard'](context, tokens)) return;
  throw new UpstreamFault(name, kindOf('revocation_refused'), 'revocation_refused');
}
