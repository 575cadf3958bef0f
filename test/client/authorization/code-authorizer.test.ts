import { describe, expect, it } from 'vitest';
import { codeAuthorizer, createMemoryStore, withAuthorization } from '../../../src/client/index.ts';
import { headlessAgent } from '../support/agent.ts';
import { testContext } from '../support/context.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

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
    expect(mcp.asked()).toEqual(['POST /mcp', 'GET /.well-known/oauth-protected-resource/mcp', 'POST /mcp']);
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
