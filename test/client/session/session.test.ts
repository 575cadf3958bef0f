import { describe, expect, it } from 'vitest';
import { createMemoryStore, withAuthorization } from '../../../src/client/index.ts';
import { nameOperation } from '../../../src/client/session/session.ts';
import { testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';
import { startServer } from '../support/scripted-server.ts';

const ping = { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) };

async function setUp(overrides: Parameters<typeof testCredential>[0] = {}) {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as);
  as.accessTokens.add('at');
  as.refreshTokens.add('rt');
  const context = testContext();
  const store = createMemoryStore();
  const credential = testCredential({ issuer: as.origin, resource: mcp.url, ...overrides });
  await store.saveRegistration(testRegistration({ issuer: as.origin }));
  await store.saveCredential(mcp.url, credential);
  return { as, mcp, context, store, credential, send: withAuthorization(context, mcp.url, store) };
}

describe('a fetch with a login', () => {
  it('has the bearer header on every request, whatever the method, and nothing in the query (A8-01)', async () => {
    const { mcp, send } = await setUp();
    expect((await send(mcp.url, ping)).status).toBe(200);
    await send(new URL(mcp.url));
    await send(mcp.url, {
      method: 'DELETE',
      headers: { authorization: 'Bearer mine', 'mcp-session-id': 's' },
    });
    expect(mcp.requests.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer at'));
    expect(mcp.requests.map(({ query }) => query.size)).toEqual([0, 0, 0]);
    expect(mcp.requests[2]?.headers['mcp-session-id']).toBe('s');
  });

  it('gives the token to no other URL, not even on the same origin (A7-05)', async () => {
    const { mcp, send } = await setUp();
    const other = await startServer({ 'GET /mcp': { text: '' } });
    mcp.routes['GET /other'] = { text: '' };
    await send(`${other.origin}/mcp`);
    await send(`${mcp.origin}/other`);
    expect([...other.requests, ...mcp.requests].map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('gives the token to the whole origin of the server where the caller says so, and to no other (A7-05)', async () => {
    const { mcp, context, store } = await setUp();
    const other = await startServer({ 'GET /mcp': { text: '' } });
    mcp.routes['GET /messages'] = { text: '' };
    const send = withAuthorization(context, mcp.url, store, { wholeOrigin: true });
    await send(`${mcp.origin}/messages?sessionId=1`);
    await send(`${other.origin}/mcp`, { headers: { authorization: 'Bearer mine', dpop: 'proof' } });
    expect([...mcp.requests, ...other.requests].map(({ headers }) => headers.authorization)).toEqual([
      'Bearer at',
      undefined,
    ]);
    expect(other.requests[0]?.headers.dpop).toBeUndefined();
  });

  it('does not use the login of another server, not even of the same authorization server (A7-05)', async () => {
    const { as, store, context } = await setUp();
    const second = await startMcpServer(as);
    await expect(withAuthorization(context, second.url, store)(second.url, ping)).rejects.toMatchObject({
      reason: 'login_required',
    });
    expect(second.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('renews the token once on a 401 and repeats the request (A9-05)', async () => {
    const { as, mcp, send } = await setUp();
    as.accessTokens.clear();
    const response = await send(mcp.url, ping);
    expect(response.status).toBe(200);
    expect(mcp.requests.map(({ body }) => body)).toEqual([ping.body, ping.body]);
    expect(as.asked()).toEqual(['POST /token']);
  });

  it('gives up after the second 401, and then sends nothing more (T-186)', async () => {
    const { as, mcp, send } = await setUp();
    mcp.routes['POST /mcp'] = {
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      text: '',
    };
    for (let attempt = 0; attempt < 5; attempt++)
      await expect(send(mcp.url, ping)).rejects.toMatchObject({ reason: 'login_required', server: mcp.url });
    expect(mcp.requests).toHaveLength(2);
    expect(as.asked()).toEqual(['POST /token']);
  });

  it('goes on after a new login', async () => {
    const { as, mcp, send, store, credential } = await setUp();
    const answer = mcp.routes['POST /mcp'] ?? {};
    mcp.routes['POST /mcp'] = { status: 401, text: '' };
    await expect(send(mcp.url, ping)).rejects.toMatchObject({ reason: 'login_required' });
    mcp.routes['POST /mcp'] = answer;
    as.accessTokens.add('new');
    await store.saveCredential(mcp.url, { ...credential, accessToken: 'new' });
    expect((await send(mcp.url, ping)).status).toBe(200);
  });

  it('does not repeat a body that can be read only once', async () => {
    const { as, mcp, send } = await setUp();
    as.accessTokens.clear();
    const body = new Blob(['{}']).stream();
    await expect(
      send(mcp.url, { method: 'POST', body, duplex: 'half' } as RequestInit),
    ).rejects.toMatchObject({
      reason: 'login_required',
    });
    expect(mcp.requests).toHaveLength(1);
  });

  it('sends the refresh token to the issuer it came from, whoever the server names now (T-184)', async () => {
    const { as, mcp, send } = await setUp();
    const attacker = await startAuthorizationServer();
    mcp.routes['GET /.well-known/oauth-protected-resource/mcp'] = {
      json: { resource: mcp.url, authorization_servers: [attacker.origin] },
    };
    as.accessTokens.clear();
    await send(mcp.url, ping);
    expect(as.asked()).toEqual(['POST /token']);
    expect(attacker.requests).toEqual([]);
  });

  it('asks for a login where there is none, and lets an open server answer', async () => {
    const { mcp, context } = await setUp();
    const send = withAuthorization(context, mcp.url, createMemoryStore());
    await expect(send(mcp.url, ping)).rejects.toMatchObject({ reason: 'login_required' });
    mcp.routes['POST /mcp'] = { json: {} };
    expect((await send(mcp.url, ping)).status).toBe(200);
  });

  it('names required, missing and all scopes on a 403 for scopes, and does not try again (A8-07, T-186)', async () => {
    const { as, mcp, send } = await setUp();
    mcp.routes['POST /mcp'] = {
      status: 403,
      headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="read write"' },
      text: '',
    };
    await expect(send(mcp.url, ping)).rejects.toMatchObject({
      reason: 'insufficient_scope',
      required: ['read', 'write'],
      missing: ['write'],
      union: ['read', 'write'],
    });
    expect(mcp.requests).toHaveLength(1);
    expect(as.requests).toEqual([]);
  });

  it('leaves any other 403 to the caller', async () => {
    const { mcp, send } = await setUp();
    mcp.routes['POST /mcp'] = { status: 403, headers: { 'www-authenticate': 'Bearer' }, text: 'no' };
    expect(await (await send(mcp.url, ping)).text()).toBe('no');
  });

  it('does not follow redirects, so that token and body stay where they are (T-186)', async () => {
    const { mcp, send } = await setUp();
    const elsewhere = await startServer();
    mcp.routes['POST /mcp'] = { status: 307, headers: { location: `${elsewhere.origin}/mcp` }, text: '' };
    expect((await send(mcp.url, { ...ping, redirect: 'follow' })).status).toBe(307);
    expect(elsewhere.requests).toEqual([]);
  });
});

describe('the operation of a request', () => {
  it.each([
    [{ method: 'tools/call', params: { name: 'add', arguments: { name: 'x' } } }, 'tools/call add'],
    [{ method: 'resources/read', params: { uri: 'file:///a' } }, 'resources/read file:///a'],
    [{ method: 'tools/list' }, 'tools/list'],
    [{ method: 'tools/call', params: { name: 7 } }, 'tools/call'],
  ])('%j is %s', (message, name) => {
    expect(nameOperation({ method: 'POST', body: JSON.stringify(message) })).toBe(name);
  });

  it.each([
    [{}, 'GET'],
    [{ method: 'DELETE' }, 'DELETE'],
    [{ method: 'POST', body: 'not json' }, 'POST'],
    [{ method: 'POST', body: '[]' }, 'POST'],
    [{ method: 'POST', body: 'null' }, 'POST'],
    [{ method: 'POST', body: new URLSearchParams('method=x') }, 'POST'],
  ])('of what is no message, %o, is the HTTP method', (init, name) => {
    expect(nameOperation(init)).toBe(name);
  });
});
