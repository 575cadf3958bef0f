import { randomUUID } from 'node:crypto';
import { type ScriptedServer, startServer } from '../../../client/support/scripted-server.ts';

/** Life of an access token, in seconds. */
export const tokenLifeSeconds = 3600;

/** A token endpoint without mercy: a refresh token is good once, and using it again ends the login for good. */
export interface RotatingServer extends ScriptedServer {
  /** The one access token, and the one refresh token, that are good. */
  tokens: { access: string; refresh: string };
  redemptions: number;
  reuses: number;
}

/** @see RFC 9700 section 4.14.2 */
export async function startRotatingServer(): Promise<RotatingServer> {
  const server: RotatingServer = Object.assign(await startServer(), {
    tokens: { access: 'first', refresh: 'first' },
    redemptions: 0,
    reuses: 0,
  });
  server.routes['POST /token'] = ({ body }) => {
    if (new URLSearchParams(body).get('refresh_token') !== server.tokens.refresh) server.reuses++;
    if (server.reuses > 0) return { status: 400, json: { error: 'invalid_grant' } };
    server.redemptions++;
    server.tokens = { access: randomUUID(), refresh: randomUUID() };
    return {
      headers: { 'cache-control': 'no-store' },
      json: {
        access_token: server.tokens.access,
        refresh_token: server.tokens.refresh,
        token_type: 'Bearer',
        expires_in: tokenLifeSeconds,
      },
    };
  };
  return server;
}
