import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it, vi } from 'vitest';
import type { McpLike } from '../../src/mcp/index.ts';
import { modernRequest, readAnswer, readAnswers, startGate } from './support/gate.ts';
import { createSlowServer, wait } from './support/tools.ts';

describe('2026-07-28', () => {
  it('is served without a session: none is minted, and one that is sent means nothing (B5-01)', async () => {
    const gate = await startGate();
    const request = modernRequest('server/discover');
    const response = await gate.send(gate.issue('ann'), {
      ...request,
      headers: { ...request.headers, 'mcp-session-id': 'nope' },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await readAnswer(response)).result).toMatchObject({ supportedVersions: ['2026-07-28'] });
  });

  it.each(['GET', 'DELETE'])('knows no %s (B5-01)', async (method) => {
    const gate = await startGate();
    const headers = { 'mcp-protocol-version': '2026-07-28' };
    const response = await gate.send(gate.issue('ann'), { method, headers });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it.each<[string, Record<string, string | undefined>, number]>([
    ['a missing Mcp-Method', { 'mcp-method': undefined }, -32020],
    ['another Mcp-Method', { 'mcp-method': 'tools/list' }, -32020],
    ['another Mcp-Name', { 'mcp-name': 'delete_note' }, -32020],
    ['another version than the body', { 'mcp-protocol-version': '2025-11-25' }, -32020],
    ['no version header', { 'mcp-protocol-version': undefined }, -32020],
  ])('refuses %s with 400 (B5-04, T-132, T-133)', async (_what, changed, code) => {
    const gate = await startGate();
    const request = modernRequest('tools/call', { name: 'whoami', arguments: {} });
    const entries = Object.entries({ ...request.headers, ...changed });
    const headers = Object.fromEntries(
      entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const response = await gate.send(gate.issue('ann'), { ...request, headers });
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([400, code]);
  });

  it('refuses a batch (B5-02, T-136)', async () => {
    const gate = await startGate();
    const { json, headers = {} } = modernRequest('server/discover');
    const response = await gate.send(gate.issue('ann'), { headers, json: [json] });
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([400, -32600]);
  });

  it.each(['initialize', 'ping', '__proto__'])(
    'answers 404 to %s, which it does not have (B5-06, T-137)',
    async (method) => {
      const gate = await startGate();
      const response = await gate.callModern(gate.issue('ann'), method, {});
      expect([response.status, (await readAnswer(response)).error?.code]).toEqual([404, -32601]);
    },
  );

  it('cancels the work of a client that is gone, and closes its server (B5-14, T-141)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ server: source });
    const leaving = new AbortController();
    const request = modernRequest('tools/call', wait(5000));
    const gone = gate.send(gate.issue('ann'), { ...request, signal: leaving.signal });
    await vi.waitFor(() => expect(seen.started).toEqual(['a']));
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await vi.waitFor(() => expect(seen).toMatchObject({ aborted: ['a'], finished: [], made: 1, closed: 1 }));
  });

  it('streams where the tool reports progress, the answer last (B5-13)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ server: source });
    const request = modernRequest('tools/call', wait(60, 'a', 2));
    const json = structuredClone(request.json) as { params: { _meta: Record<string, unknown> } };
    json.params._meta.progressToken = 7;
    const response = await gate.send(gate.issue('ann'), { ...request, json });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(await readAnswers(response)).toMatchObject([
      { method: 'notifications/progress' },
      { method: 'notifications/progress' },
      { id: 1, result: { content: [{ text: 'a for ann' }] } },
    ]);
  });

  it('keeps a slow answer alive with comments (B5-13)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ server: source, keepAliveMs: 20 });
    const response = await gate.callModern(gate.issue('ann'), 'tools/call', wait(120));
    const text = await response.text();
    expect(text).toMatch(/^: open\n\n(: waiting\n\n)+event: message\ndata: \{.*\}\n\n$/);
  });

  it('answers many callers with the same id each its own (T-127, T-142)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ server: source });
    await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const response = await gate.callModern(
          gate.issue(`account-${at}`),
          'tools/call',
          wait(Math.random() * 50, `l${at}`),
        );
        expect((await readAnswer(response)).result).toMatchObject({
          content: [{ text: `l${at} for account-${at}` }],
        });
      }),
    );
  });

  it('shows a tool nothing of the token (A7-04, T-105)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ server: source });
    const token = gate.issue('ann');
    await (await gate.callModern(token, 'tools/call', { name: 'look', arguments: {} })).text();
    const session = await gate.initialize(token);
    await gate.call(token, session, 'tools/call', { name: 'look', arguments: {} });
    expect(seen.contexts).toHaveLength(2);
    for (const context of seen.contexts) {
      expect(context).not.toContain(token);
      expect(context).toContain('"url":"http://127.0.0.1:');
    }
  });

  it('is not spoken by a server made with the SDK of version 1: its clients fall back to a session (B5-15)', async () => {
    const gate = await startGate({
      server: () => {
        const server = new ServerV1({ name: 'v1', version: '1.0.0' });
        server.registerTool('hello', {}, () => ({ content: [{ type: 'text' as const, text: 'hello' }] }));
        return server as unknown as McpLike;
      },
    });
    const token = gate.issue('ann');
    const response = await gate.callModern(token, 'server/discover');
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([400, -32022]);
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(gate.url), { requestInit }));
    expect(await client.callTool({ name: 'hello', arguments: {} })).toMatchObject({
      content: [{ text: 'hello' }],
    });
    expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
    await client.close();
  });

  it('is refused politely once the endpoint is closed', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ server: source });
    const token = gate.issue('ann');
    const running = gate.callModern(token, 'tools/call', wait(5000)).then(
      ({ status }) => status,
      () => 'cut off',
    );
    await sleep(50);
    await gate.close();
    expect(await running).not.toBe(200);
    expect((await gate.callModern(token, 'server/discover')).status).toBe(503);
  });
});
