import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuthInfo } from '../../src/oauth/auth-info.ts';
import { parseChallenges } from '../../src/oauth/challenge.ts';
import { protectedResourceMetadataUrls } from '../../src/oauth/well-known.ts';
import { buildProtectedResource, createRequireBearer } from '../../src/resource-server/index.ts';

const caller: AuthInfo = {
  issuer: 'https://as.example.com',
  subject: 'ann',
  clientId: 'client-1',
  scopes: ['notes:read'],
  audience: '',
  expiresAt: 4_000_000_000,
};

/** A guarded path behind which every request is told who it came from. */
async function startGuarded(): Promise<{ url: string; served: string[] }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const [resourceMetadataUrl = ''] = protectedResourceMetadataUrls(url);
  const served: string[] = [];
  const app = new Koa();
  app.use(async (ctx, next) => {
    if (ctx.path === '/mcp') return next();
    ctx.body = buildProtectedResource({
      resource: url,
      authorizationServers: ['https://as.example.com'],
      scopesSupported: ['notes:read'],
      name: 'Notes',
    });
  });
  app.use(
    createRequireBearer({
      verifier: { verify: async (token) => (token === 'good' ? { ...caller, audience: url } : undefined) },
      resource: url,
      resourceMetadataUrl,
      baselineScopes: ['notes:read', 'offline_access'],
    }),
  );
  app.use((ctx) => {
    served.push(ctx.method);
    ctx.body = { caller: ctx.state.authInfo ?? null };
  });
  server.on('request', app.callback());
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, served };
}

describe('the bearer check', () => {
  it.each(['GET', 'POST', 'DELETE', 'HEAD', 'PUT'])(
    'stops %s without a token, with a challenge without error (T-095, A3-02, A8-03, A8-09)',
    async (method) => {
      const { url, served } = await startGuarded();
      const response = await fetch(url, { method });
      expect(response.status).toBe(401);
      expect(response.headers.get('cache-control')).toBe('no-store');
      const [challenge] = parseChallenges(response.headers.get('www-authenticate') ?? '');
      expect(challenge?.parameters).toEqual({
        scope: 'notes:read',
        resource_metadata: protectedResourceMetadataUrls(url)[0],
      });
      expect(served).toEqual([]);
    },
  );

  it('names a metadata URL that serves a document for this very URL (T-095, A3-02, A3-03)', async () => {
    const { url } = await startGuarded();
    const response = await fetch(url);
    const [challenge] = parseChallenges(response.headers.get('www-authenticate') ?? '');
    const metadataUrl = challenge?.parameters.resource_metadata ?? '';
    expect(new URL(metadataUrl).pathname).toBe('/.well-known/oauth-protected-resource/mcp');
    expect(await (await fetch(metadataUrl)).json()).toMatchObject({
      resource: url,
      authorization_servers: ['https://as.example.com'],
    });
  });

  it('puts who is calling on the state, and nothing of the token (T-105)', async () => {
    const { url } = await startGuarded();
    const response = await fetch(url, { headers: { authorization: 'Bearer good' } });
    expect(await response.json()).toEqual({ caller: { ...caller, audience: url } });
  });

  it('says that a sent token is bad, and why in words (A8-10)', async () => {
    const { url } = await startGuarded();
    const response = await fetch(url, { headers: { authorization: 'Bearer bad' } });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error: 'invalid_token' });
    expect(response.headers.get('content-length')).toBe(String(text.length));
  });

  it('keeps headers of steps before it on a refusal, CORS among them', async () => {
    const app = new Koa();
    app.use((ctx, next) => {
      ctx.set('Access-Control-Allow-Origin', 'https://page.example.com');
      return next();
    });
    const resource = 'https://mcp.example.com/mcp';
    const verifier = { verify: async () => undefined };
    app.use(createRequireBearer({ verifier, resource, resourceMetadataUrl: resource, baselineScopes: [] }));
    const response = await request(app.callback()).get('/').set('Authorization', 'Bearer bad').expect(401);
    expect(response.headers['access-control-allow-origin']).toBe('https://page.example.com');
  });

  it('sees a second Authorization header, which Node would drop (T-101)', async () => {
    const { url, served } = await startGuarded();
    const sent = httpRequest(url, {
      headers: ['authorization', 'Bearer good', 'authorization', 'Bearer good'],
    });
    sent.end();
    const [response] = await once(sent, 'response');
    response.resume();
    expect(response.statusCode).toBe(400);
    expect(served).toEqual([]);
  });

  it.each([
    ['a cookie', { cookie: 'access_token=good' }, undefined],
    ['a form body', { 'content-type': 'application/x-www-form-urlencoded' }, 'access_token=good'],
  ])('ignores a token in %s (T-101)', async (_place, headers: Record<string, string>, body) => {
    const { url } = await startGuarded();
    const response = await fetch(url, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
    expect(response.status).toBe(401);
  });

  it('lets OPTIONS pass as nobody: a preflight carries no credentials', async () => {
    const { url } = await startGuarded();
    expect(await (await fetch(url, { method: 'OPTIONS' })).json()).toEqual({ caller: null });
  });
});
