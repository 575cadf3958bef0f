import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createStatelessTransport } from '../../../src/mcp/legacy/stateless.ts';
import { call, rpc, type ServedOptions, serveTransport, textAnswer } from '../support/served-transport.ts';

const start = (options?: ServedOptions) => serveTransport(createStatelessTransport, options);

const initialize = rpc(0, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

describe('streamable HTTP without sessions', () => {
  it.each(['each', 'shared'] as const)('serves the SDK clients of both versions (%s)', async (sharing) => {
    const { url } = await start({ sharing });
    const requestInit = { headers: { 'x-subject': 'grace' } };
    const v1 = new ClientV1({ name: 'v1', version: '1' });
    await v1.connect(new TransportV1(new URL(url), { requestInit }));
    const v2 = new ClientV2({ name: 'v2', version: '1' });
    await v2.connect(new TransportV2(new URL(url), { requestInit }));
    onTestFinished(() => Promise.all([v1.close(), v2.close()]).then(() => undefined));
    for (const client of [v1, v2]) {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['echo', 'wait', 'ask']);
      const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
      expect(content).toEqual([{ type: 'text', text: 'hello of grace' }]);
    }
  });

  it('answers initialize without a session id, and later requests without one (B3-10)', async () => {
    const { post } = await start();
    const opened = await post(initialize);
    expect(opened.status).toBe(200);
    expect(opened.headers.get('mcp-session-id')).toBeNull();
    expect(await opened.json()).toMatchObject({ id: 0, result: { protocolVersion: '2025-06-18' } });
    expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    const called = await post(call(1, 'echo', { text: 'a' }), { 'mcp-protocol-version': '2025-06-18' });
    expect(await called.json()).toEqual(textAnswer(1, 'a of ann'));
  });

  it.each(['GET', 'DELETE'])('answers %s with 405 and what is allowed (B3-07)', async (method) => {
    const { url } = await start();
    const response = await fetch(url, { method, headers: { accept: 'text/event-stream' } });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('takes batches of 2025-03-26, named or not, and refuses them in other revisions (B3-13, B3-14)', async () => {
    const { post } = await start();
    const batch = [call('b', 'echo', { text: '1' }), call(2, 'echo', { text: '2' })];
    for (const headers of [undefined, { 'mcp-protocol-version': '2025-03-26' }]) {
      const answered = await post(batch, headers);
      expect(await answered.json()).toEqual([textAnswer('b', '1 of ann'), textAnswer(2, '2 of ann')]);
    }
    const one = await post([call(1, 'echo', { text: '1' })]);
    expect(await one.json()).toEqual([textAnswer(1, '1 of ann')]);
    for (const revision of ['2025-06-18', '2025-11-25', '2024-11-05']) {
      const refused = await post(batch, { 'mcp-protocol-version': revision });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { code: -32600 } });
    }
  });

  it('refuses a revision it does not know with 400 (B3-17)', async () => {
    const { post } = await start();
    const refused = await post(rpc(1, 'tools/list'), { 'mcp-protocol-version': '1999-01-01' });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { data: { requested: '1999-01-01', supported: expect.arrayContaining(['2025-11-25']) } },
    });
  });

  it('answers responses and notifications alone with 202 (B3-03)', async () => {
    const { post, seen } = await start();
    const response = await post({ jsonrpc: '2.0', id: 1, result: {} });
    expect([response.status, await response.text()]).toEqual([202, '']);
    expect(seen.made).toBe(0);
    expect((await post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' })).status).toBe(202);
  });

  it('refuses an initialize that is not whole, and ids that repeat (T-142)', async () => {
    const { post } = await start();
    const half = await post(rpc(7, 'initialize', { protocolVersion: '2025-06-18' }));
    expect([half.status, await half.json()]).toMatchObject([400, { id: 7, error: { code: -32602 } }]);
    const twice = await post([rpc(1, 'ping'), rpc(1, 'ping')]);
    expect([twice.status, await twice.json()]).toMatchObject([400, { error: { code: -32600 } }]);
  });

  it('keeps scopes: what a caller may not call is refused before a server sees any of it (T-102)', async () => {
    const { post, seen } = await start({ rules: { tools: { wait: ['waiting'] } } });
    const body = [call(1, 'echo', { text: '1' }), call(2, 'wait', { ms: 1, label: 'never' })];
    const refused = await post(body, { 'x-scopes': 'reading' });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('scope="waiting"');
    expect(seen.started).toEqual([]);
    expect((await post(body, { 'x-scopes': 'waiting' })).status).toBe(200);
  });
});
