import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import Koa from 'koa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMcpEndpoint } from '../../src/mcp/endpoint.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { McpSessionStore } from '../../src/storage/mcp-sessions.ts';
import { defaultSessionLimits, modernRequest, readAnswer, startGate } from './support/gate.ts';
import { createSlowServer, wait } from './support/tools.ts';

describe('the MCP endpoint', () => {
  it('serves the SDK client of version 2 in a session (B3-01, B3-04)', async () => {
    const gate = await startGate();
    const client = await gate.connect(gate.issue('ann'));
    const result = await client.callTool({ name: 'whoami', arguments: {} });
    expect(result.structuredContent).toMatchObject({ account: 'ann', client: 'client-1' });
  });

  it('serves the SDK client of version 2 without a session, the way of 2026-07-28 (B5-01, B5-16)', async () => {
    const gate = await startGate();
    const client = await gate.connect(gate.issue('ann'), 'modern');
    const result = await client.callTool({ name: 'whoami', arguments: {} });
    expect(result.structuredContent).toMatchObject({ account: 'ann', client: 'client-1' });
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  });

  it('serves the SDK client of version 1 (B3-01, B3-04)', async () => {
    const gate = await startGate();
    const client = new ClientV1({ name: 'test', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${gate.issue('ann')}` } };
    await client.connect(new TransportV1(new URL(gate.url), { requestInit }));
    const result = await client.callTool({ name: 'whoami', arguments: {} });
    expect(result.structuredContent).toMatchObject({ account: 'ann' });
    await client.close();
  });

  it('answers a call of 2026-07-28 as JSON where the tool sends nothing else', async () => {
    const gate = await startGate();
    const response = await gate.callModern(gate.issue('ann'), 'tools/call', {
      name: 'whoami',
      arguments: {},
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await readAnswer(response)).result).toMatchObject({ structuredContent: { account: 'ann' } });
  });

  it('answers with JSON that nobody may store', async () => {
    const gate = await startGate();
    const response = await gate.callModern(gate.issue('ann'), 'server/discover');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-length')).not.toBeNull();
  });

  it('serves nobody who was not identified: without the bearer check in front it fails', async () => {
    const at = (path: string) => new URL(path, 'https://mcp.example.com');
    const endpoint = createMcpEndpoint({
      source: { sharing: 'each', create: () => Promise.reject(new Error('never made')) },
      scopeRules: {},
      urls: { mcp: at('/mcp'), sse: at('/sse'), messages: at('/messages'), rest: at('/rest') },
      maxBodyBytes: 1024,
      sessions: 'none',
      sessionLimits: defaultSessionLimits,
      principalLimits: { maxCallsPerPrincipal: 1, maxStreamsPerPrincipal: 1 },
      store: {} as McpSessionStore,
      access: { watch: () => () => undefined },
      seal: { seal: (text) => text, open: (sealed) => sealed },
      now: () => 0,
      logger: createLogger('silent'),
    });
    onTestFinished(() => endpoint.close());
    const app = new Koa();
    const failures: Error[] = [];
    app.on('error', (error) => failures.push(error));
    app.use(endpoint.middleware);
    const server = app.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
    expect(response.status).toBe(500);
    expect(failures[0]?.message).toContain('put the bearer check in front');
  });

  it('survives clients that reset at any moment, and keeps no session of theirs busy (T-146)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const headers = { 'mcp-session-id': await gate.initialize(token) };
    const attempts = Array.from({ length: 60 }, async (_, at) => {
      const request =
        at % 3 === 0
          ? { method: 'GET', headers }
          : at % 3 === 1
            ? modernRequest('tools/call', wait(50, `m${at}`))
            : { headers, json: { jsonrpc: '2.0', id: at, method: 'tools/call', params: wait(50, `l${at}`) } };
      return gate.send(token, { ...request, signal: AbortSignal.timeout(at) }).then(
        (response) => response.text().catch(() => 'reset'),
        () => 'reset',
      );
    });
    await Promise.all(attempts);
    await vi.waitFor(() => expect(seen.made - seen.closed).toBe(1));
    await vi.waitFor(async () => {
      const leaving = new AbortController();
      const stream = await gate.send(token, { method: 'GET', headers, signal: leaving.signal });
      leaving.abort();
      expect(stream.status).toBe(200);
    });
  });

  it('sends large answers whole (B3-05)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const answer = await gate.call(token, await gate.initialize(token), 'tools/call', {
      name: 'fill',
      arguments: { megabytes: 8 },
    });
    expect(JSON.stringify(answer.result).length).toBeGreaterThan(8 * 1024 * 1024);
  });
});
