// Flows through src/gateway/backends/remote/http-link.ts, src/gateway/modern/modern-call.ts and src/gateway/modern/eras.ts: a real
// server of SDK v2 on loopback that misbehaves, real logins, the real clients of both SDKs.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { type CapableClient, connectCapable } from './support/capable-clients.ts';
import { type ModernElsewhere, type Received, serveModern } from './support/modern-elsewhere.ts';
import { postModern } from './support/post-modern.ts';

const scopes = ['mcp'];
const modernClient = 'SDK v2, 2026-07-28';

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
const stream = (...parts: string[]): Response =>
  new Response(parts.join(''), { headers: { 'content-type': 'text/event-stream' } });
const failing = (status: number, { id }: Received, code: number, data?: unknown): Response =>
  json(status, { jsonrpc: '2.0', id, error: { code, message: 'm', data } });

let elsewhere: ModernElsewhere;
let gate: RunningGatehouse;
let client: CapableClient;

describe('a server of 2026-07-28 that fails', () => {
  beforeAll(async () => {
    elsewhere = await serveModern('reject');
    gate = await startGatehouse({ backend: { url: elsewhere.url, name: 'Elsewhere' } });
    client = await connectCapable(modernClient, gate.mcpUrl, { scopes });
  });
  afterEach(() => elsewhere.instead());
  afterAll(async () => {
    await client.close();
    await gate.stop();
    await elsewhere.stop();
  });
  const sent = (method: string): Received[] => elsewhere.received.filter((one) => one.method === method);

  it.each<[string, (received: Received) => Response | 'cut', RegExp]>([
    ['a connection that breaks', () => 'cut', /Elsewhere ended while the call ran/],
    ['a stream without an answer', () => stream(': hello\n\n'), /Elsewhere ended while the call ran/],
    [
      'a page',
      () => json(200, '<h1>127.0.0.1</h1>', { 'content-type': 'text/html' }),
      /no JSON-RPC response/,
    ],
    ['half an answer', ({ id }) => json(200, { jsonrpc: '2.0', id }), /no JSON-RPC response/],
    ['an answer to nobody', () => json(200, { jsonrpc: '2.0', id: 'x', result: {} }), /no JSON-RPC response/],
    ['garbage in a stream', () => stream('data: {\n\n'), /no JSON-RPC response/],
    ['too much', () => json(200, 'x'.repeat(17 * 1024 * 1024)), /more than is read at once/],
    [
      'a redirect',
      () => json(307, '', { location: 'http://127.0.0.1:1/stolen' }),
      /redirect, which is not followed/,
    ],
    [
      'a 401 that wants us to fetch something',
      () => json(401, {}, { 'www-authenticate': 'Bearer resource_metadata="http://127.0.0.1:1/"' }),
      /does not let the gateway in/,
    ],
    ['a 403', () => json(403, ''), /does not allow this/],
    ['a 503', () => json(503, ''), /too much to do/],
    ['a 502', () => json(502, ''), /failed on its side/],
  ])(
    'by %s is told so at once, by name, and the next call goes well (T-157, T-161)',
    async (_what, answer, told) => {
      elsewhere.received.length = 0;
      elsewhere.instead((received) => (received.method === 'tools/call' ? answer(received) : undefined));
      const begun = performance.now();
      const failure = await client.call('echo', { text: 'x' }).catch((error: Error) => error);
      expect(String(failure)).toMatch(told);
      expect(String(failure)).not.toMatch(/127\.0\.0\.1|<h1>/);
      expect(performance.now() - begun).toBeLessThan(3000);
      // A call may have had its effect: it is never sent again.
      expect(sent('tools/call')).toHaveLength(1);
      elsewhere.instead();
      expect(await client.call('echo', { text: 'x' })).toMatchObject({ said: 'x' });
    },
  );

  it('passes the errors of the server on, with their codes and data (C9)', async () => {
    elsewhere.instead((received) =>
      received.method === 'tools/call' ? failing(500, received, -32099, { mine: true }) : undefined,
    );
    await expect(client.call('echo')).rejects.toMatchObject({ code: -32099, data: { mine: true } });
  });

  it('is sent a request that changes nothing once more, as a new one, where the connection broke (B1-06, B5-14)', async () => {
    elsewhere.received.length = 0;
    let isFirst = true;
    elsewhere.instead(({ method }) => {
      if (method !== 'prompts/get' || !isFirst) return undefined;
      isFirst = false;
      return 'cut';
    });
    const response = await post('prompts/get', { name: 'hello' });
    expect(response).toMatchObject({ result: { messages: [{}] } });
    const [first, second] = sent('prompts/get');
    expect([first?.id, second?.id].every((id) => typeof id === 'number')).toBe(true);
    expect(first?.id).not.toBe(second?.id);
    elsewhere.instead(({ method }) => (method === 'prompts/get' ? 'cut' : undefined));
    elsewhere.received.length = 0;
    expect(await post('prompts/get', { name: 'hello' })).toMatchObject({
      error: { data: { reason: 'backend_ended' } },
    });
    expect(sent('prompts/get')).toHaveLength(2);
  });

  it('that finds header and body to differ is looked at again, and asked once more (B5-11)', async () => {
    await client.call('region', { region: 'eu' });
    elsewhere.received.length = 0;
    let times = 0;
    elsewhere.instead((received) =>
      received.method === 'tools/call' && ++times === 1 ? failing(400, received, -32020) : undefined,
    );
    expect(await client.call('region', { region: 'eu' })).toEqual({ region: 'eu', header: 'eu' });
    expect(elsewhere.received.map(({ method }) => method)).toEqual([
      'tools/call',
      'tools/list',
      'tools/call',
    ]);
    elsewhere.instead((received) =>
      received.method === 'tools/call' ? failing(400, received, -32020) : undefined,
    );
    expect(await post('tools/call', { name: 'echo', arguments: {} })).toMatchObject({
      error: { code: -32020 },
    });
  });

  it('cannot ask the client by a request: that is dropped (B5-13)', async () => {
    elsewhere.instead(({ method, id }) => {
      if (method !== 'tools/call') return undefined;
      const ask = { jsonrpc: '2.0', id: 7, method: 'roots/list' };
      const result = { resultType: 'complete', content: [{ type: 'text', text: '1' }] };
      const answer = { jsonrpc: '2.0', id, result };
      return stream(`data: ${JSON.stringify(ask)}\n\n`, `data: ${JSON.stringify(answer)}\n\n`);
    });
    client.heard.length = 0;
    expect(await client.call('echo')).toBe(1);
    expect(client.heard).toEqual([]);
  });

  it('may become one of the older revisions: who comes then is served in those (B5-15, B1-09)', async () => {
    const older = await connectCapable('SDK v1', gate.mcpUrl, { scopes });
    expect(await older.call('ask')).toMatchObject({ name: 'Ada' });
    elsewhere.serve('stateless');
    elsewhere.instead((received) =>
      received.headers['mcp-method'] === undefined
        ? undefined
        : failing(400, { ...received, id: null }, -32000),
    );
    await vi.waitFor(
      async () => expect(await client.call('echo', { text: 'again' })).toMatchObject({ said: 'again' }),
      { timeout: 15_000, interval: 500 },
    );
    // The other node has yet to find out.
    if (nodeCount > 1)
      await vi.waitFor(() => older.call('echo', { text: 'x' }), { timeout: 15_000, interval: 500 });
    // The translation has ended; the session goes on without one.
    elsewhere.received.length = 0;
    expect(await older.call('echo', { text: 'x' })).toMatchObject({ said: 'x' });
    const calls = elsewhere.received.filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ headers }) => headers['mcp-protocol-version'])).toEqual(['2025-11-25']);
    await older.close();
  });
});

/** Sends a request of 2026-07-28 by hand, as the client that is logged in. */
async function post(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
  const response = await postModern(gate.mcpUrl, client.accessToken, {
    method,
    params,
    meta: { 'io.modelcontextprotocol/clientCapabilities': {} },
  });
  const text = await response.text();
  return JSON.parse(text.replace(/^[\s\S]*data: /, '')) as Record<string, unknown>;
}
