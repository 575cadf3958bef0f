import * as oauth from 'oauth4webapi';
import type { ClientIdentity } from '../client/oauth-client.ts';
import { parseObject } from '../oauth/foreign-json.ts';
import { type Ask, kindOf } from './ask.ts';
import type { UpstreamPreset } from './presets/preset.ts';
import { requestOptions, type UpstreamServer } from './server.ts';
import type { UpstreamTokens } from './upstream.ts';
import { UpstreamFault } from './upstream-fault.ts';

/** What giving tokens back needs. */
export interface RevocationContext {
  /** Of the upstream. */
  name: string;
  preset: UpstreamPreset;
  ask: Ask;
  identity: ClientIdentity;
  server: UpstreamServer;
  /** Its revocation endpoint; `{client_id}` in it stands for ours. */
  endpoint: string;
}

/** What an upstream says of a token it no longer knows; that is as good as revoked (RFC 7009 section 2.2). */
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
  // Google has this name for a token it no longer knows.
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
 * Gives tokens back: the refresh token, with which all go, else the access token (RFC 7009), or as the upstream has it.
 * @throws UpstreamFault where it did not take them
 */
export async function revokeTokens(context: RevocationContext, tokens: UpstreamTokens): Promise<void> {
  const { name, preset } = context;
  if (await ways[preset.revocation ?? 'standard'](context, tokens)) return;
  throw new UpstreamFault(name, kindOf('revocation_refused'), 'revocation_refused');
}
