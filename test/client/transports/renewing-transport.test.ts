import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it, vi } from 'vitest';
import { connectServer } from '../../../src/client/index.ts';
import { startServer } from '../support/scripted-server.ts';
import { echoServer, startEventStreamServer, startSessionServer } from '../support/sdk-servers.ts';

const connect = (url: string) =>
  connectServer({ url, fetch: globalThis.fetch, clientInfo: { name: 'test', version: '1' } });
const echo = { name: 'echo', arguments: { text: 'a' } };
const answer = { content: [{ type: 'text', text: 'a' }] };

describe('a connection whose session is lost', () => {
  it.each([
    { status: 404, message: 'Session not found' },
    { status: 400, message: 'Bad Request: No valid session ID provided' },
  ])('begins a new one and sends again what was refused, at $status (B3-11)', async (lost) => {
    const server = await startSessionServer(echoServer, lost);
    const { client, close } = await connect(server.url);
    server.forget();
    server.asked.length = 0;
    expect(await client.callTool(echo)).toMatchObject(answer);
    expect(server.asked.filter((one) => one.startsWith('POST') && one !== 'POST ping')).toEqual([
      'POST tools/call',
      'POST initialize',
      'POST notifications/initialized',
      'POST tools/call',
    ]);
    await close();
  });

  it('begins one for all requests that wait', async () => {
    const server = await startSessionServer();
    const { client, close } = await connect(server.url);
    server.forget();
    server.asked.length = 0;
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.callTool(echo)));
    expect(answers).toMatchObject(Array(8).fill(answer));
    expect(server.asked.filter((one) => one === 'POST initialize')).toHaveLength(1);
    await close();
  });

  it('tells the new one its log level and subscriptions, and the client that lists may have changed', async () => {
    const server = await startSessionServer(() => {
      const made = echoServer();
      made.registerResource('a', 'test://a', {}, () => ({ contents: [] }));
      for (const method of ['resources/subscribe', 'logging/setLevel']) keepAnswering(made, method);
      return made;
    });
    const { client, close } = await connect(server.url);
    await client.setLoggingLevel('warning');
    await client.subscribeResource({ uri: 'test://a' });
    const changed = vi.fn();
    client.setNotificationHandler('notifications/tools/list_changed', changed);
    server.forget();
    server.asked.length = 0;
    await client.callTool(echo);
    expect(server.asked).toEqual(
      expect.arrayContaining(['POST logging/setLevel', 'POST resources/subscribe']),
    );
    expect(changed).toHaveBeenCalledOnce();
    await close();
  });

  it('does not begin one for ever where the server keeps forgetting (T-186)', async () => {
    const server = await startServer();
    server.routes['POST /mcp'] = ({ body }) => {
      const { id, method } = JSON.parse(body) as { id?: number; method: string };
      if (method === 'notifications/initialized') return { status: 202, text: '' };
      if (method !== 'initialize') return { status: 404, text: '' };
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      };
      return { headers: { 'mcp-session-id': `s-${id}` }, json: { jsonrpc: '2.0', id, result } };
    };
    server.routes['GET /mcp'] = { status: 404, text: '' };
    const { client, close } = await connect(`${server.origin}/mcp`);
    await expect(client.callTool(echo)).rejects.toThrow();
    await close();
    expect(server.requests.length).toBeLessThan(20);
  });
});

/** The SDK's server has no handler for these of its own. */
function keepAnswering(made: McpServer, method: string): void {
  const { fallbackRequestHandler } = made.server;
  made.server.fallbackRequestHandler = async (request) =>
    request.method === method ? {} : ((await fallbackRequestHandler?.(request, {} as never)) ?? {});
}

describe('a connection that breaks', () => {
  it('answers a call that may have had its effect with an error at once, and does not repeat it', async () => {
    let calls = 0;
    const server = await startSessionServer(() => {
      const made = echoServer();
      made.registerTool('slow', {}, async () => {
        calls++;
        server.forget();
        return new Promise(() => undefined);
      });
      return made;
    });
    const { client, close } = await connect(server.url);
    await expect(client.callTool({ name: 'slow' })).rejects.toThrow(/Whether the server did what was asked/);
    expect(calls).toBe(1);
    expect(await client.callTool(echo)).toMatchObject(answer);
    await close();
  });

  it('opens a new event stream of HTTP+SSE, with a session of its own', async () => {
    const server = await startEventStreamServer();
    const { client, close } = await connect(server.url);
    server.forget();
    expect(await client.callTool(echo)).toMatchObject(answer);
    expect(server.sessions).toHaveLength(1);
    await close();
  });

  it('breaks off an endless event instead of waiting for it (T-189)', async () => {
    const server = await startServer();
    server.routes['POST /mcp'] = ({ body }) => {
      const { id, method } = JSON.parse(body) as { id?: number; method: string };
      if (method === 'notifications/initialized') return { status: 202, text: '' };
      if (method === 'server/discover') return { status: 400, text: '' };
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      };
      if (method === 'initialize') return { json: { jsonrpc: '2.0', id, result } };
      return {
        raw: (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const push = (): void => {
            while (response.write(`data: ${'a'.repeat(8192)}\n`));
            response.once('drain', push);
          };
          push();
        },
      };
    };
    const { client, close } = await connectServer({
      url: `${server.origin}/mcp`,
      fetch: globalThis.fetch,
      clientInfo: { name: 'test', version: '1' },
      limits: { maxAnswerBytes: 64 * 1024 },
    });
    await expect(client.callTool(echo)).rejects.toThrow(/an event of more than 64 KiB/);
    await close();
  });
});
