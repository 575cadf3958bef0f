import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it, vi } from 'vitest';
import { LoginRequiredError } from '../../../../src/client/index.ts';
import { closedOrigin } from '../../support/closed-origin.ts';
import { startModernServer } from '../../support/modern-server.ts';
import { startServer } from '../../support/scripted-server.ts';
import { startSessionServer } from '../../support/sdk-servers.ts';
import { bridgedHost } from './support/host.ts';
import { hostV1 } from './support/sdk-hosts.ts';

const initialize = {
  jsonrpc: '2.0' as const,
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
};
const line = (message: object): string => `${JSON.stringify(message)}\n`;

describe('a bridge', () => {
  it('prefers the revision of the host where the server speaks several (B5-16)', async () => {
    const server = await startModernServer('stateless');
    const client = hostV1();
    await client.connect(bridgedHost(server.url).transport as Transport);
    await client.callTool({ name: 'echo', arguments: { text: 'a' } });
    expect(server.asked).not.toContain('server/discover');
  });

  it('ends the session and itself once the host closes its input', async () => {
    const server = await startSessionServer();
    const { transport, bridge } = bridgedHost(server.url);
    const client = hostV1();
    await client.connect(transport as Transport);
    await client.close();
    await bridge.ended;
    expect(server.asked.at(-1)).toBe('DELETE');
  });

  it('answers what was asked last before it ends: input may come from a pipe', async () => {
    const server = await startSessionServer();
    const { stdin, bridge, transport, heard } = bridgedHost(server.url);
    await transport.start();
    stdin.write(line(initialize));
    stdin.write(line({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    stdin.end(line({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
    await bridge.ended;
    expect(heard).toMatchObject([{ id: 0 }, { id: 1, result: { tools: [{ name: 'echo' }] } }]);
  });

  it('answers a ping before it knows the server', async () => {
    const { stdin, transport, heard } = bridgedHost('http://127.0.0.1:1/mcp');
    await transport.start();
    stdin.write(line({ jsonrpc: '2.0', id: 1, method: 'ping' }));
    await vi.waitFor(() => expect(heard).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]));
  });

  it('answers with an error that says what to do where there is no server, or a login is needed', async () => {
    const origin = await closedOrigin();
    const page = { headers: { 'content-type': 'application/json' }, text: '{"error":"not_found"}' };
    const server = await startServer({
      'POST /none': { status: 404, ...page },
      'GET /none': { status: 404, ...page },
      'POST /down': { status: 503, ...page },
    });
    const login = (): Promise<Response> =>
      Promise.reject(new LoginRequiredError(server.origin, 'Run: gatehouse login'));
    const cases = [
      { url: origin, fetch: globalThis.fetch, message: 'the connection was refused' },
      { url: server.origin, fetch: login, message: 'Run: gatehouse login' },
      {
        url: `${server.origin}/none`,
        fetch: globalThis.fetch,
        message: `${server.origin}/none is no MCP endpoint: POST is answered with 404`,
      },
      {
        url: `${server.origin}/down`,
        fetch: globalThis.fetch,
        message: `${server.origin}/down answered with 503 Service Unavailable. Try again later.`,
      },
    ];
    for (const { url, fetch, message } of cases) {
      const { stdin, transport, heard } = bridgedHost(url, { fetch });
      await transport.start();
      stdin.write(line(initialize));
      stdin.write(line({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
      await vi.waitFor(() => expect(heard).toHaveLength(2));
      expect(heard[0]).toMatchObject({ id: 0, error: { message: expect.stringContaining(message) } });
      expect(heard[1]).toMatchObject({ id: 1, error: { code: -32000 } });
    }
  });
});
