import { ListRootsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import {
  type ConnectServerOptions,
  clientCredentialsExtension,
  connectServer,
  createMemoryStore,
  enterpriseManagedExtension,
  withAuthorization,
  withMcpConnection,
} from '../../../src/client/index.ts';
import { closedOrigin } from '../support/closed-origin.ts';
import { testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';
import { startServer } from '../support/scripted-server.ts';
import { echoServer, startEventStreamServer, startSessionServer } from '../support/sdk-servers.ts';

const clientInfo = { name: 'test', version: '1' };

function options(url: string, more: Partial<ConnectServerOptions> = {}): ConnectServerOptions {
  return { url, fetch: globalThis.fetch, clientInfo, ...more };
}

async function echo(given: ConnectServerOptions) {
  const connection = await connectServer(given);
  const { content } = await connection.client.callTool({ name: 'echo', arguments: { text: 'a' } });
  const era = connection.client.getProtocolEra();
  await connection.close();
  return { content, era, transport: connection.transport };
}

const refusal = (code: number) => ({ jsonrpc: '2.0', id: null, error: { code, message: 'no' } });

/** A server that speaks only `initialize`, and answers all else in one way. */
async function startOldServer(toProbe: { status: number; text?: string; json?: unknown }) {
  const server = await startServer();
  server.routes['POST /mcp'] = ({ body }) => {
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (method === 'notifications/initialized') return { status: 202, text: '' };
    if (method !== 'initialize') return toProbe;
    const result = {
      protocolVersion: '2025-03-26',
      capabilities: {},
      serverInfo: { name: 'old', version: '1' },
    };
    return { json: { jsonrpc: '2.0', id, result } };
  };
  server.routes['GET /mcp'] = { status: 405, text: '' };
  return { ...server, url: `${server.origin}/mcp` };
}

describe('one URL', () => {
  it('is connected to in 2026-07-28 where the server speaks it (B1-09)', async () => {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'modern', version: '1' });
      server.registerTool('echo', {}, () => ({ content: [{ type: 'text', text: 'modern' }] }));
      return server;
    });
    const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init));
    const { era, transport, content } = await echo(options('http://127.0.0.1/mcp', { fetch }));
    expect({ era, transport, content }).toEqual({
      era: 'modern',
      transport: 'http',
      content: [{ type: 'text', text: 'modern' }],
    });
  });

  it.each(['modern', 'legacy'] as const)(
    'is told which extensions the login uses, beside what else the client can do (%s; A13-01, A13-04)',
    async (era) => {
      const told: unknown[] = [];
      const handler = createMcpHandler(() => new McpServer({ name: 'modern', version: '1' }));
      const fetch = async (url: string | URL, init?: RequestInit) => {
        const { method, params } = JSON.parse(String(init?.body ?? '{}'));
        if (method === 'server/discover')
          told.push(params._meta['io.modelcontextprotocol/clientCapabilities']);
        if (method === 'initialize') told.push(params.capabilities);
        return handler.fetch(new Request(url, init));
      };
      const connection = await connectServer(
        options('http://127.0.0.1/mcp', {
          fetch,
          extensions: [clientCredentialsExtension, enterpriseManagedExtension],
          client: { capabilities: { roots: {}, extensions: { 'a.example/b': { c: 1 } } } },
          known: { transport: 'http', era },
        }),
      );
      await connection.close();
      const extensions = {
        [clientCredentialsExtension]: {},
        [enterpriseManagedExtension]: {},
        'a.example/b': { c: 1 },
      };
      expect(told).toEqual([{ roots: {}, extensions }]);
    },
  );

  it('is connected to with initialize where it does not, and the session ended after (B3-11)', async () => {
    const server = await startSessionServer();
    expect(await echo(options(server.url))).toMatchObject({ era: 'legacy', transport: 'http' });
    expect(server.asked.slice(0, 2)).toEqual(['POST server/discover', 'POST initialize']);
    expect(server.asked.at(-1)).toBe('DELETE');
  });

  it('is connected to over HTTP+SSE where POST is refused, its messages posted where it says (B2-02, B6-01)', async () => {
    const server = await startEventStreamServer();
    expect(await echo(options(server.url))).toEqual({
      era: 'legacy',
      transport: 'sse',
      content: [{ type: 'text', text: 'a' }],
    });
    expect(server.asked.slice(0, 3)).toEqual(['POST server/discover', 'POST initialize', 'GET']);
  });

  it.each([
    ['a 400 that says nothing', { status: 400, text: '' }],
    ['an unknown error code', { status: 400, json: refusal(-32000) }],
    ['a 5xx', { status: 500, text: 'stack' }],
    ['a page', { status: 200, text: '<p>' }],
  ])('is connected to with initialize after %s (B1-09, B5-15)', async (_name, answer) => {
    const server = await startOldServer(answer);
    const { client, close } = await connectServer(options(server.url));
    expect(client.getServerVersion()).toMatchObject({ name: 'old' });
    await close();
  });

  it('of a server that wants a login or is down is not looked at for an event stream (B6-01)', async () => {
    for (const status of [401, 403, 503]) {
      const server = await startServer({ 'POST /mcp': { status, text: '' } });
      await expect(connectServer(options(`${server.origin}/mcp`))).rejects.toThrow(String(status));
      expect(server.asked().filter((one) => one.startsWith('GET'))).toEqual([]);
    }
  });

  it('where there is no MCP server says so', async () => {
    const server = await startServer();
    await expect(connectServer(options(`${server.origin}/mcp`))).rejects.toMatchObject({
      reason: 'server_error',
      message: expect.stringMatching(/is no MCP endpoint: POST is answered with 404.*Check the path/),
    });
    const origin = await closedOrigin();
    await expect(connectServer(options(origin))).rejects.toMatchObject({
      cause: { reason: 'unreachable', message: expect.stringContaining('the connection was refused') },
    });
  });
});

describe('a server that refuses 2026-07-28 with the revisions it speaks', () => {
  const refusing = (supported: string[]) => {
    const error = { code: -32022, message: 'Unsupported protocol version', data: { supported } };
    return startOldServer({ status: 400, json: { jsonrpc: '2.0', id: 'server-discover-probe-1', error } });
  };

  it.each([[['2025-03-26']], [['2025-03-26', '2099-01-01']], [['2099-01-01', '2025-11-25']]])(
    'is connected to with initialize where one of %j is ours (C3-08)',
    async (supported) => {
      const server = await refusing(supported);
      const { client, close } = await connectServer(options(server.url));
      expect(client.getServerVersion()).toMatchObject({ name: 'old' });
      await close();
    },
  );

  it('is given up where none is ours, and both sides are named (C3-08)', async () => {
    const server = await refusing(['2099-01-01']);
    await expect(connectServer(options(server.url))).rejects.toMatchObject({
      reason: 'server_error',
      message: expect.stringMatching(
        /the server speaks only 2099-01-01 of MCP, and this client 2026-07-28, /,
      ),
    });
    expect(server.asked()).toEqual(['POST /mcp']);
  });
});

describe('what is known of a server', () => {
  it('spares an old one the questions about its age the next time (C3-09)', async () => {
    for (const server of [await startSessionServer(), await startEventStreamServer()]) {
      const first = await connectServer(options(server.url));
      await first.close();
      server.asked.length = 0;
      const { known, close } = await connectServer(options(server.url, { known: first.known }));
      await close();
      expect(known).toEqual(first.known);
      expect(server.asked[0]).toBe(known.transport === 'sse' ? 'GET' : 'POST initialize');
      expect(server.asked).not.toContain('POST server/discover');
    }
  });

  it('is asked anew where it is out of date, and is not taken for another transport (C3-09)', async () => {
    const server = await startSessionServer();
    const stale = { transport: 'sse', era: 'legacy' } as const;
    const { known, close } = await connectServer(options(server.url, { known: stale }));
    await close();
    expect(known).toEqual({ transport: 'http', era: 'legacy' });
    server.asked.length = 0;
    const chosen = await connectServer(options(server.url, { known: stale, transport: 'http' }));
    await chosen.close();
    expect(server.asked[0]).toBe('POST server/discover');
  });
});

describe('a chosen transport', () => {
  it('is the only one tried', async () => {
    const server = await startEventStreamServer();
    await expect(connectServer(options(server.url, { transport: 'http' }))).rejects.toThrow();
    expect(server.asked).not.toContain('GET');
    server.asked.length = 0;
    expect((await echo(options(server.url, { transport: 'sse' }))).transport).toBe('sse');
    expect(server.asked[0]).toBe('GET');
  });
});

describe('a client', () => {
  it('is set up before it connects, and answers what the server asks', async () => {
    const server = await startSessionServer(() => {
      const made = echoServer();
      made.registerTool('where', {}, async ({ sendRequest }) => {
        const { roots } = await sendRequest({ method: 'roots/list' }, ListRootsResultSchema);
        return { content: [{ type: 'text', text: String(roots[0]?.uri) }] };
      });
      return made;
    });
    const connection = await connectServer(
      options(server.url, {
        client: { capabilities: { roots: {} } },
        prepare: (client) =>
          client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///work' }] })),
      }),
    );
    const { content } = await connection.client.callTool({ name: 'where' });
    expect(content).toEqual([{ type: 'text', text: 'file:///work' }]);
    await connection.close();
  });
});

describe('mcp connection', () => {
  const clientInfo = { name: 'test', version: '1' };

  describe('an MCP connection with a login', () => {
    it('lists and calls tools, the token on every request, renewed on the way (A8-01, A9-05)', async () => {
      const as = await startAuthorizationServer();
      const tool = { name: 'echo', inputSchema: { type: 'object' } };
      const mcp = await startMcpServer(as, {
        tools: [tool],
        call: ({ arguments: args }) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
      });
      as.refreshTokens.add('rt');
      const store = createMemoryStore();
      await store.saveRegistration(testRegistration({ issuer: as.origin }));
      await store.saveCredential(mcp.url, testCredential({ issuer: as.origin, resource: mcp.url }));
      const fetch = withAuthorization(testContext(), mcp.url, store);
      const seen = await withMcpConnection({ url: mcp.url, fetch, clientInfo }, async (client) => ({
        tools: (await client.listTools()).tools.map(({ name }) => name),
        result: await client.callTool({ name: 'echo', arguments: { a: 1 } }),
      }));
      expect(seen.tools).toEqual(['echo']);
      expect(seen.result.content).toEqual([{ type: 'text', text: '{"a":1}' }]);
      const tokens = mcp.requests.map(({ headers }) => headers.authorization);
      expect(tokens[0]).toBe('Bearer at');
      expect(new Set(tokens.slice(1)).size).toBe(1);
      expect(tokens[1]).toMatch(/^Bearer at-/);
    });
  });
});
