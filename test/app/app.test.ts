import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';
import { authorization, obtainTokens, openConsent, post, register, type Tokens } from '../support/oauth.ts';
import { sendRaw } from '../support/raw-http.ts';
import { createVisitor } from '../support/visitor.ts';

describe.each([
  ['is an origin', ''],
  ['has a path', '/tools'],
])('the order of a request, where the public URL %s', (_what, publicPath) => {
  let gatehouse: RunningGatehouse;
  let host: string;
  let clientId: string;
  let tokens: Tokens;
  beforeAll(async () => {
    gatehouse = await startGatehouse({ publicPath });
    host = new URL(gatehouse.url).host;
    ({ clientId, tokens } = await obtainTokens(gatehouse));
  });
  afterAll(() => gatehouse.stop());

  const rpc = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

  it.each([
    '//mcp',
    '///mcp',
    '/./mcp',
    '/x/../mcp',
    '/healthz/../mcp',
    '/.well-known/../mcp',
    '/interaction/../mcp',
    '/%6dcp',
    '/%6d%63%70',
    '/%2fmcp',
    '/mcp%2f',
    '/mcp%00',
    '/mcp;a=b',
    '/mcp;/',
    '/mcp/.',
    '/mcp/..',
    '/mcp/x/..',
    '/mcp//',
    '/MCP',
    '/Mcp/',
    '/mcp\\',
    '\\mcp',
    '/mcp.json',
    '/mcp#',
    '/mcp?',
    '/mcp/?x',
    '/mcp',
    '/mcp/',
    '/?/mcp',
    '/healthz/mcp',
    '/healthz%2f..%2fmcp',
    '/.well-known/oauth-protected-resource/../../mcp',
    '//evil.example/mcp',
    '/@evil.example/mcp',
  ])(
    'opens the MCP endpoint to nobody without a token, however the path is spelled: %s (T-110)',
    async (path) => {
      for (const target of [`${publicPath}${path}`, path]) {
        const answer = await sendRaw(
          gatehouse.listensAt,
          [
            `POST ${target} HTTP/1.1`,
            `Host: ${host}`,
            'Content-Type: application/json',
            'Accept: application/json, text/event-stream',
            `Content-Length: ${rpc.length}`,
          ],
          rpc,
        );
        expect([400, 401, 404, 405]).toContain(answer.status);
        expect(answer.headers.has('location')).toBe(false);
        expect(answer.body).not.toContain('"result"');
        if (answer.status === 401)
          expect(answer.headers.get('www-authenticate')).toContain('resource_metadata=');
      }
    },
  );

  it.each([
    '//authorize',
    '/x/../authorize',
    '/%61uthorize',
    '/authorize;x',
    '/AUTHORIZE',
    '//evil.example/authorize',
  ])('reaches the authorization endpoint by its own path alone: %s (T-110)', async (path) => {
    const { search } = new URL(authorization(gatehouse, clientId).url);
    const answer = await sendRaw(gatehouse.listensAt, [
      `GET ${publicPath}${path}${search} HTTP/1.1`,
      `Host: ${host}`,
    ]);
    expect(answer.status).toBe(404);
    expect(answer.headers.has('location')).toBe(false);
    expect(answer.headers.has('set-cookie')).toBe(false);
  });

  it('keeps its method: no header or parameter makes it another one (T-110)', async () => {
    for (const headers of [{ 'x-http-method-override': 'POST' }, { 'x-method-override': 'POST' }] as const) {
      const response = await fetch(`${gatehouse.url}/token?_method=POST`, { headers: { ...headers } });
      expect(response.status).toBe(405);
    }
    for (const header of ['x-original-url', 'x-rewrite-url', 'x-forwarded-prefix', 'x-forwarded-uri']) {
      const response = await fetch(`${gatehouse.url}/nowhere`, {
        headers: { [header]: `${publicPath}/mcp` },
      });
      expect(response.status).toBe(404);
    }
  });

  it.each([
    '/',
    '/health',
    '/metrics',
    '/debug',
    '/debug/pprof',
    '/admin',
    '/admin/clients',
    '/api',
    '/status',
    '/env',
    '/.env',
    '/config',
    '/gatehouse.json',
    '/gatehouse.db',
    '/gatehouse.keys.json',
    '/.git/config',
    '/server-status',
    '/actuator/env',
  ])('has nothing at %s, with or without a token (T-113)', async (path) => {
    for (const base of [publicPath, '']) {
      for (const headers of [{}, { authorization: `Bearer ${tokens.access_token}` }]) {
        const response = await fetch(`${new URL(gatehouse.url).origin}${base}${path}`, { headers });
        expect(response.status).toBe(404);
        expect(await response.json()).toEqual({
          error: 'not_found',
          error_description: 'There is nothing at this path.',
        });
      }
    }
  });

  it('lets public documents be cached for a short time, and they vary by nothing (T-115)', async () => {
    for (const place of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/jwks',
    ]) {
      const { headers } = await fetch(`${gatehouse.url}${place}`, {
        headers: { origin: 'https://a.example' },
      });
      expect(headers.get('cache-control')).toBe('public, max-age=300');
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('vary')).toBeNull();
      expect(headers.get('set-cookie')).toBeNull();
    }
    const { headers } = await fetch(
      `${new URL(gatehouse.url).origin}/.well-known/oauth-protected-resource${publicPath}/mcp`,
    );
    expect(headers.get('cache-control')).toBe('public, max-age=300');
  });

  it('lets nothing be stored that has to do with a person, a code or a token (T-115)', async () => {
    const visitor = createVisitor();
    const flow = authorization(gatehouse, clientId);
    const begun = await visitor.request(flow.url);
    const login = await visitor.open(begun.headers.get('location') ?? '');
    const wrong = await visitor.submit(login, '/login', [['email', 'a@example.com']]);
    const consent = await openConsent(flow, visitor);
    const csrf = /action="[^"]*\/consent"[\s\S]*?name="csrf" value="([^"]*)"/.exec(consent.html)?.[1] ?? '';
    const decided = await visitor.request(`${consent.url}/consent`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: `csrf=${encodeURIComponent(csrf)}&decision=allow&scope=notes%3Aread`,
    });
    const resumed = await visitor.request(decided.headers.get('location') ?? '');
    const code = new URL(resumed.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const redeemed = await post(`${gatehouse.url}/token`, {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: flow.redirectUri,
      code_verifier: flow.verifier,
      code,
    });
    const registered = await fetch(`${gatehouse.url}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/cb'] }),
    });
    expect([redeemed.status, registered.status]).toEqual([200, 201]);
    const account = `${gatehouse.url}/account`;
    const stranger = createVisitor();
    const { refresh_token: token } = (await redeemed.json()) as { refresh_token: string };
    const fields = { client_id: clientId, token };
    const others = [
      await visitor.request(account),
      await stranger.request(account),
      await stranger.request(`${account}/login`),
      await visitor.request(`${account}/not-there`),
      await visitor.request(`${account}/password`, { method: 'PUT' }),
      await post(`${gatehouse.url}/token`, { grant_type: 'nothing', client_id: clientId }),
      await post(`${gatehouse.url}/token`, fields, { origin: 'null' }),
      await post(`${gatehouse.url}/revoke`, fields),
    ];
    for (const { url, status, headers } of others)
      expect([url, status, headers.get('cache-control')]).toEqual([url, status, 'no-store']);
    const answers = [
      begun,
      login.response,
      wrong.response,
      consent.response,
      decided,
      resumed,
      redeemed,
      registered,
    ];
    for (const response of answers) expect(response.headers.get('cache-control')).toBe('no-store');
    expect((await fetch(`${gatehouse.listensAt}/healthz`)).headers.get('cache-control')).toBe('no-store');
  });

  it('gives an id to every answer, and logs no query and no token', async () => {
    await register(gatehouse.url);
    const { url } = authorization(gatehouse, clientId, { state: 'a-state-to-look-for' });
    const response = await createVisitor().request(url);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(gatehouse.log.join('')).not.toContain('a-state-to-look-for');
    expect(gatehouse.log.join('')).not.toContain(tokens.access_token);
  });
});
