// Flows through src/gateway/modern/translating-server.ts and src/gateway/modern/era-server.ts: clients over HTTP+SSE,
// Rest and requests without a session, at a real server of SDK v2 that speaks 2026-07-28 alone.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { type ModernElsewhere, serveModern } from './support/modern-elsewhere.ts';

let elsewhere: ModernElsewhere;
let gate: RunningGatehouse;
beforeAll(async () => {
  elsewhere = await serveModern('reject');
  gate = await startGatehouse({
    backend: { url: elsewhere.url, name: 'Elsewhere' },
    mcp: { sessions: 'none' },
  });
});
afterAll(async () => {
  await gate.stop();
  await elsewhere.stop();
});

/** Logs in at one of the endpoints. */
async function enter(path: 'mcp' | 'sse' | 'rest'): Promise<{ url: string; authorization: string }> {
  const url = gate.mcpUrl.replace(/mcp$/, path);
  const { tokens } = await obtainTokens({ url: gate.url, mcpUrl: url }, { scope: 'mcp', scopes: ['mcp'] });
  return { url, authorization: `Bearer ${tokens.access_token}` };
}

const call = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('a server of 2026-07-28 alone', () => {
  it('serves a client over HTTP+SSE: it is asked, and hears of what it subscribed to (B5-16, C4-06)', async () => {
    const { url, authorization } = await enter('sse');
    const client = new Client({ name: 'sse', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept' as const,
      content: { name: 'Ada' },
    }));
    const heard: string[] = [];
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    );
    const headers = { authorization };
    await client.connect(
      new SSEClientTransport(new URL(url), {
        requestInit: { headers },
        eventSourceInit: {
          fetch: (at, init) => fetch(at, { ...init, headers: { ...init?.headers, ...headers } }),
        },
      }),
    );
    const { content } = await client.callTool({ name: 'ask', arguments: { whom: 'ada' } });
    expect(content).toEqual([{ type: 'text', text: '{"name":"Ada","state":"state of ada"}' }]);
    await client.subscribeResource({ uri: 'test://a' });
    await client.callTool({ name: 'change', arguments: { uri: 'test://a' } });
    await vi.waitFor(() => expect(heard).toEqual(['test://a']));
    await client.close();
  });

  it.each([
    ['Rest', 'rest'],
    ['requests without a session', 'mcp'],
  ] as const)('serves a client over %s; what it would ask is an error (B7-14)', async (_what, path) => {
    const { url, authorization } = await enter(path);
    const post = async (body: object): Promise<Record<string, unknown>> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/json',
          accept: path === 'rest' ? 'application/json' : 'application/json, text/event-stream',
          ...(path === 'mcp' && { 'mcp-protocol-version': '2025-11-25' }),
        },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return JSON.parse(text.replace(/^[\s\S]*data: /, '')) as Record<string, unknown>;
    };
    expect(await post(call('echo', { text: 'one' }))).toMatchObject({
      result: { content: [{ text: expect.stringContaining('"said":"one"') }] },
    });
    const { error } = (await post(call('ask'))) as { error?: { code: number; message: string } };
    expect(error?.code).toBeLessThan(0);
    expect(await post(call('echo', { text: 'two' }))).toMatchObject({
      result: { content: [{ text: expect.stringContaining('"said":"two"') }] },
    });
  });
});
