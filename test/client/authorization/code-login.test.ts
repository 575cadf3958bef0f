import { describe, expect, it } from 'vitest';
import {
  ClientError,
  type CodeLoginOptions,
  codeAuthorizer,
  createMemoryStore,
  freshCredential,
  loginWithCode,
  withAuthorization,
} from '../../../src/client/index.ts';
import { headlessAgent } from '../support/agent.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { checkProof } from '../support/proofs.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

async function setUp(overrides: Record<string, unknown> = {}) {
  const as = await startAuthorizationServer(overrides);
  const mcp = await startMcpServer(as, { scopes: ['read'] });
  const store = createMemoryStore();
  const steps: string[] = [];
  const agent = headlessAgent();
  const progress = {
    discovered: ({ model }: { model: string }) => void steps.push(model),
    registered: (_: unknown, how: string) => void steps.push(how),
  };
  const run = (options: Partial<CodeLoginOptions> = {}) =>
    loginWithCode(testContext(), mcp.url, { store, agent, progress, ...options });
  return { as, mcp, store, steps, agent, run };
}

describe('a login with the code flow', () => {
  it('goes from the URL to tokens in the store, telling each step (A6-06)', async () => {
    const { mcp, store, steps, agent, run } = await setUp();
    const { credential } = await run();
    expect(steps).toEqual(['protected_resource', 'new']);
    expect(agent.requests).toHaveLength(1);
    expect(await store.findCredential(mcp.url)).toEqual(credential);
    expect(credential.scopes).toEqual(['read']);
  });

  it('sends the resource in the authorization request and the token request (A7-01)', async () => {
    const { as, mcp, agent, run } = await setUp();
    await run();
    expect(new URL(agent.requests[0]?.url ?? '').searchParams.get('resource')).toBe(mcp.url);
    const token = as.requests.find(({ path }) => path === '/token');
    expect(new URLSearchParams(token?.body).get('resource')).toBe(mcp.url);
  });

  it('asks beforehand whether a client registered earlier is still known, and registers again where not', async () => {
    const { as, steps, agent, run } = await setUp();
    await run();
    const authorize = as.routes['GET /authorize'];
    const forgotten = new URL(agent.requests[0]?.url ?? '').searchParams.get('client_id');
    as.routes['GET /authorize'] = (request) => {
      if (request.query.get('client_id') === forgotten) return { status: 400, text: 'who?' };
      return typeof authorize === 'function' ? authorize(request) : {};
    };
    await run();
    expect(steps.filter((step) => step !== 'protected_resource')).toEqual(['new', 'new']);
    expect(agent.requests).toHaveLength(2);
  });

  it('registers again, once, where only the token endpoint says that a client is forgotten', async () => {
    const { as, mcp, store, steps, agent, run } = await setUp();
    await run();
    const forgotten = (await store.findRegistration(as.origin))?.clientId ?? '';
    const token = as.routes['POST /token'];
    as.routes['POST /token'] = (request) => {
      if (new URLSearchParams(request.body).get('client_id') === forgotten)
        return { status: 401, json: { error: 'invalid_client' } };
      return typeof token === 'function' ? token(request) : {};
    };
    const { credential } = await run();
    expect(steps.filter((step) => step !== 'protected_resource')).toEqual(['new', 'kept', 'new']);
    expect(agent.requests).toHaveLength(3);
    expect(await store.findCredential(mcp.url)).toEqual(credential);
    expect(credential.clientId).not.toBe(forgotten);
  });

  it('does not register again and again where the token endpoint knows nobody', async () => {
    const { as, store, agent, run } = await setUp();
    as.routes['POST /token'] = { status: 401, json: { error: 'invalid_client' } };
    await expect(run()).rejects.toMatchObject({ reason: 'client_unknown' });
    expect(agent.requests).toHaveLength(1);
    expect(await store.findRegistration(as.origin)).toBeUndefined();
  });

  it('goes on with a client registered earlier where only a browser can reach the authorization endpoint', async () => {
    const { mcp, as, store, agent, run } = await setUp();
    await run();
    const context = testContext();
    const { fetch } = context;
    context.fetch = async (url, init) => {
      if (String(url).includes('/authorize')) throw new TypeError('fetch failed');
      return fetch(url, init);
    };
    await loginWithCode(context, mcp.url, { store, agent });
    expect(as.asked().filter((asked) => asked === 'POST /register')).toHaveLength(1);
  });

  it.each(['redirect_uri_mismatch', 'access_denied', 'temporarily_unavailable', 'invalid_scope'])(
    'keeps no client that the user gave for a login that ended with %s, nor takes one away (A5-11)',
    async (error) => {
      const { as, store, run } = await setUp();
      const { clientId } = (await run()).credential;
      const given = { clientId: 'mine', clientSecret: 's' };
      const authorize = as.routes['GET /authorize'] ?? {};
      as.routes['GET /authorize'] = ({ query }) => ({
        status: 302,
        headers: {
          location: `${query.get('redirect_uri')}?error=${error}&state=${query.get('state')}&iss=${as.origin}`,
        },
        text: '',
      });
      await expect(run({ given })).rejects.toBeInstanceOf(ClientError);
      expect(await store.findRegistration(as.origin)).toMatchObject({ clientId, source: 'dynamic' });
      as.routes['GET /authorize'] = authorize;
      await run({ given });
      expect(await store.findRegistration(as.origin)).toMatchObject({ ...given, source: 'given' });
    },
  );

  it('drops a client that was given earlier where the server does not know it any more', async () => {
    const { as, store, run } = await setUp();
    await run({ given: { clientId: 'mine', clientSecret: 's' } });
    as.routes['POST /token'] = { status: 401, json: { error: 'invalid_client' } };
    await expect(run()).rejects.toMatchObject({ reason: 'client_unknown' });
    expect(await store.findRegistration(as.origin)).toBeUndefined();
  });

  it('leaves the logins of the client that it takes the place of as they were (A5-10)', async () => {
    const { as, store, mcp, run } = await setUp();
    const first = (await run()).credential;
    const other = await startMcpServer(as);
    const given = { clientId: 'mine', clientSecret: 's' };
    await loginWithCode(testContext(), other.url, { store, agent: headlessAgent(), given });
    const renewed = await freshCredential(testContext(), store, mcp.url, first.accessToken);
    expect(renewed).toMatchObject({ clientId: first.clientId });
    expect(renewed?.accessToken).not.toBe(first.accessToken);
  });

  it('takes a refusal of what is asked for as none of the client, and registers nobody', async () => {
    const { as, store, steps, run } = await setUp();
    const { clientId } = (await run()).credential;
    as.routes['GET /authorize'] = { status: 400, json: { error: 'invalid_scope' } };
    await expect(run({ scopes: ['reed'] })).rejects.toThrow();
    expect(steps.at(-1)).toBe('kept');
    expect(await store.findRegistration(as.origin)).toMatchObject({ clientId });
  });

  it('keeps no client that was given and gets nobody in: the one before is there again (A5-11)', async () => {
    const { as, store, run } = await setUp();
    const authorize = as.routes['GET /authorize'];
    const given = { clientId: 'misspelt' };
    as.routes['GET /authorize'] = ({ query }) => ({
      status: 302,
      headers: {
        location: `${query.get('redirect_uri')}?error=unauthorized_client&state=${query.get('state')}&iss=${as.origin}`,
      },
      text: '',
    });
    await expect(run({ given })).rejects.toMatchObject({ reason: 'authorization_denied' });
    expect(await store.findRegistration(as.origin)).toBeUndefined();
    as.routes['GET /authorize'] = authorize ?? {};
    const { clientId } = (await run()).credential;
    as.routes['POST /token'] = { status: 401, json: { error: 'invalid_client' } };
    await expect(run({ given })).rejects.toMatchObject({ reason: 'client_unknown' });
    expect(await store.findRegistration(as.origin)).toMatchObject({ clientId, source: 'dynamic' });
  });

  it('keeps the secret of before where another one was given for the same client, and refused', async () => {
    const { as, store, run } = await setUp();
    await run({ given: { clientId: 'mine', clientSecret: 'right' } });
    as.routes['POST /token'] = { status: 401, json: { error: 'invalid_client' } };
    const misspelt = { clientId: 'mine', clientSecret: 'wrong' };
    await expect(run({ given: misspelt })).rejects.toMatchObject({ reason: 'client_unknown' });
    expect(await store.findRegistration(as.origin)).toMatchObject({ clientSecret: 'right' });
  });

  it('does not ask about the client where the caller is sure of it', async () => {
    const { as, run } = await setUp();
    await run();
    await run({ isClientSure: true });
    expect(as.asked().filter((asked) => asked === 'GET /authorize')).toHaveLength(2);
  });

  it('keeps nothing where the answer comes from another issuer (A6-08, T-187)', async () => {
    const { as, mcp, store, agent, run } = await setUp();
    agent.change = (query) => query.set('iss', 'https://evil.example');
    await expect(run()).rejects.toMatchObject({ reason: 'issuer_mismatch' });
    expect(as.asked()).not.toContain('POST /token');
    expect(await store.findCredential(mcp.url)).toBeUndefined();
  });

  it('binds code and token to a key where the server takes no other token (A13-09)', async () => {
    const { as, mcp, agent, run } = await setUp();
    mcp.routes['POST /mcp'] = { status: 401, headers: { 'www-authenticate': 'DPoP algs="ES256"' }, json: {} };
    const nonces: (string | undefined)[] = [];
    const token = as.routes['POST /token'];
    as.routes['POST /token'] = (request) => {
      const { jkt, nonce } = checkProof(request, as.origin, startOfTime);
      nonces.push(nonce);
      if (nonce !== 'n1')
        return { status: 400, headers: { 'dpop-nonce': 'n1' }, json: { error: 'use_dpop_nonce' } };
      expect(new URL(agent.requests[0]?.url ?? '').searchParams.get('dpop_jkt')).toBe(jkt);
      const answer = typeof token === 'function' ? token(request) : {};
      return { ...answer, json: { ...Object(answer.json), token_type: 'DPoP' } };
    };
    const { credential } = await run();
    expect(nonces).toEqual([undefined, 'n1']);
    expect(credential.dpopKey).toMatchObject({ alg: 'ES256' });
  });

  it('asks for a bearer token where nobody wants another (A13-11)', async () => {
    const { as, agent, run } = await setUp();
    await run();
    expect(new URL(agent.requests[0]?.url ?? '').searchParams.has('dpop_jkt')).toBe(false);
    expect(as.requests.filter(({ headers }) => headers.dpop !== undefined)).toEqual([]);
  });
});

describe('code authorizer', () => {
  const message = (method: string) => ({
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name: 'save' } }),
  });

  async function setUp() {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as, { scopes: ['read'], call: () => ({ content: [] }) });
    const store = createMemoryStore();
    const agent = headlessAgent();
    const context = testContext();
    const authorizer = codeAuthorizer(context, { store, agent });
    return { as, mcp, store, agent, send: withAuthorization(context, mcp.url, store, { authorizer }) };
  }

  describe('an authorizer by the code flow', () => {
    it('logs in from the refusal at hand, without asking the server for one again', async () => {
      const { as, mcp, send } = await setUp();
      expect((await send(mcp.url, message('tools/list'))).status).toBe(200);
      expect(mcp.asked()).toEqual([
        'POST /mcp',
        'GET /.well-known/oauth-protected-resource/mcp',
        'POST /mcp',
      ]);
      expect(as.asked()).toEqual([
        'GET /.well-known/oauth-authorization-server',
        'POST /register',
        'GET /authorize',
        'POST /token',
      ]);
    });

    it('steps up with the same client, and asks for all scopes held and required (A8-07)', async () => {
      const { as, mcp, agent, send } = await setUp();
      await send(mcp.url, message('tools/list'));
      mcp.needsScope = 'write';
      const answer = mcp.routes['POST /mcp'];
      const granted = () => agent.requests.length === 2;
      mcp.routes['POST /mcp'] = (request) => {
        if (granted()) mcp.needsScope = undefined;
        return typeof answer === 'function' ? answer(request) : {};
      };
      expect((await send(mcp.url, message('tools/call'))).status).toBe(200);
      const asked = agent.requests.map(({ url }) => new URL(url).searchParams);
      expect(asked.map((query) => query.get('scope'))).toEqual(['read', 'read write']);
      expect(asked[1]?.get('client_id')).toBe(asked[0]?.get('client_id'));
      expect(as.asked().filter((one) => one === 'GET /authorize')).toHaveLength(2);
    });

    it('follows the server to another authorization server, registers there, and sends nothing of the first (A3-09, A5-10, A7-05, T-184)', async () => {
      const { as, mcp, store, send } = await setUp();
      await send(mcp.url, message('tools/list'));
      const first = JSON.stringify([
        await store.findRegistration(as.origin),
        await store.findCredential(mcp.url),
      ]);
      const second = await startAuthorizationServer();
      mcp.routes['GET /.well-known/oauth-protected-resource/mcp'] = {
        json: { resource: mcp.url, authorization_servers: [second.origin] },
      };
      mcp.routes['POST /mcp'] = ({ headers }) => {
        const token = String(headers.authorization ?? '').replace('Bearer ', '');
        return second.accessTokens.has(token)
          ? { json: { jsonrpc: '2.0', id: 1, result: {} } }
          : { status: 401, headers: { 'www-authenticate': 'Bearer' }, text: '' };
      };
      expect((await send(mcp.url, message('tools/list'))).status).toBe(200);
      expect(second.asked()).toContain('POST /register');
      const secrets = first.match(/(?:client|at|rt)-[0-9a-f-]{36}/g) ?? [];
      expect(secrets).toHaveLength(4);
      const told = JSON.stringify(second.requests);
      expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);
      expect((await store.findCredential(mcp.url))?.authorizationServer.issuer).toBe(second.origin);
      expect(await store.findRegistration(as.origin)).toBeDefined();
    });
  });
});
