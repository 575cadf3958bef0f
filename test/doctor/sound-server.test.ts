import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { discover } from '../../src/client/index.ts';
import { startServer, type TestServer } from './support/server.ts';

const context = { fetch: globalThis.fetch, now: () => 1_800_000_000, timeoutMs: 2000 };

async function logIn(server: TestServer) {
  const verifier = 'v'.repeat(43);
  const redirectUri = 'http://127.0.0.1:4567/callback';
  const post = (path: string, form: Record<string, string>) =>
    fetch(`${server.origin}${path}`, { method: 'POST', body: new URLSearchParams(form) });
  const registration = (await (
    await fetch(`${server.origin}/register`, {
      method: 'POST',
      body: JSON.stringify({
        redirect_uris: ['http://127.0.0.1/callback'],
        token_endpoint_auth_method: 'none',
      }),
    })
  ).json()) as { client_id: string };
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: registration.client_id,
    redirect_uri: redirectUri,
    state: 's',
    scope: 'notes:read',
    resource: server.url,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const answer = await fetch(`${server.origin}/authorize?${query}`, { redirect: 'manual' });
  const back = new URL(answer.headers.get('location') ?? '').searchParams;
  const redeem = () =>
    post('/token', {
      grant_type: 'authorization_code',
      client_id: registration.client_id,
      code: back.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: redirectUri,
    });
  const tokens = (await (await redeem()).json()) as { access_token: string; refresh_token: string };
  const call = (method: string, params: object = {}) =>
    fetch(server.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  const refresh = () =>
    post('/token', {
      grant_type: 'refresh_token',
      client_id: registration.client_id,
      refresh_token: tokens.refresh_token,
    });
  return { back, redeem, tokens, call, refresh };
}

describe('the sound server', () => {
  it('is found by the client, at the origin and below a path', async () => {
    const server = await startServer();
    const found = await discover(context, server.url);
    expect(found).toMatchObject({ model: 'protected_resource', resource: server.url });
    const below = await startServer({ issuerPath: '/tenant' });
    expect((await discover(context, below.url)).authorizationServer.issuer).toBe(`${below.origin}/tenant`);
  });

  it('gives tokens that open it, for the scopes they have', async () => {
    const { back, call } = await logIn(await startServer());
    expect(back.get('state')).toBe('s');
    for (const method of ['initialize', 'server/discover', 'tools/list'])
      expect((await call(method)).status).toBe(200);
    expect((await call('tools/call', { name: 'read_notes' })).status).toBe(200);
    const refused = await call('tools/call', { name: 'write_note' });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('scope="notes:write"');
  });

  it('ends the grant when a code comes back', async () => {
    const { redeem, call } = await logIn(await startServer());
    expect((await redeem()).status).toBe(400);
    expect((await call('ping')).status).toBe(401);
  });

  it('rotates refresh tokens, repeats itself for a moment, then takes a repetition for theft', async () => {
    const server = await startServer({
      fault: ({ rules }) => {
        rules.refreshGraceMs = 50;
      },
    });
    const { refresh, call } = await logIn(server);
    const [one, two] = await Promise.all([refresh(), refresh()]);
    expect(await one.json()).toEqual(await two.json());
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect((await refresh()).status).toBe(400);
    expect((await call('ping')).status).toBe(401);
  });

  it('publishes a key that its tokens can be verified with, and does one thing wrong where it is told to', async () => {
    const server = await startServer({
      fault: (changed) => changed.publish('GET /jwks', { keys: [] }),
    });
    expect(await (await fetch(`${server.origin}/jwks`)).json()).toEqual({ keys: [] });
  });
});
