import type { ScriptedAuthorizationServer } from './protected-server.ts';

/** Metadata of an authorization server that offers device logins at {@link offerDeviceLogin}. */
export const deviceMetadata = (origin: string): Record<string, unknown> => ({
  device_authorization_endpoint: `${origin}/device_authorization`,
});

/**
 * Lets a scripted authorization server offer logins by device code; the user enters the code at the second poll.
 * @returns what it was asked for so far
 */
export function offerDeviceLogin(as: ScriptedAuthorizationServer): { polls: number } {
  const seen = { polls: 0 };
  const { 'GET /.well-known/oauth-authorization-server': metadata, 'POST /token': token } = as.routes;
  if (typeof metadata === 'object')
    Object.assign(metadata.json as Record<string, unknown>, deviceMetadata(as.origin));
  as.routes['POST /device_authorization'] = {
    json: {
      device_code: 'device-code',
      user_code: 'WDJB-MJHT',
      verification_uri: `${as.origin}/device`,
      verification_uri_complete: `${as.origin}/device?user_code=WDJB-MJHT`,
      expires_in: 600,
      interval: 0.01,
    },
  };
  as.routes['POST /token'] = (request) => {
    if (!request.body.includes('device_code')) return typeof token === 'function' ? token(request) : {};
    seen.polls++;
    if (seen.polls === 1) return { status: 400, json: { error: 'authorization_pending' } };
    as.accessTokens.add('at-device');
    return { json: { access_token: 'at-device', token_type: 'Bearer', expires_in: 3600 } };
  };
  return seen;
}
