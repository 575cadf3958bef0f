import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  RestServerTransport,
  type RestServerTransportOptions,
} from '../../../src/mcp/rest/server-transport.ts';
import { toSdkAuthInfo } from '../../../src/mcp/sdk/caller.ts';
import { notSerializable } from '../../../src/mcp/sdk/serializable.ts';
import { authInfoWith } from '../support/auth-info.ts';
import {
  call,
  postAndLeave,
  registerTestTools,
  rpc,
  type Seen,
  textAnswer,
  until,
} from '../support/served-transport.ts';

const parseError = { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' }, id: null };

async function start(options: RestServerTransportOptions = {}) {
  const log: string[] = [];
  const errors: Error[] = [];
  const transport = new RestServerTransport({ port: 0, log: (line) => log.push(line), ...options });
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  const seen: Seen = { made: 0, closed: 0, started: [], aborted: [], notified: [] };
  registerTestTools(server, seen);
  server.registerTool('plain', {}, () => ({ content: [{ type: 'text', text: 'plain' }] }));
  server.server.onerror = (error) => errors.push(error);
  await server.connect(transport);
  await transport.startServer();
  onTestFinished(() => server.close());
  const url = transport.url ?? '';
  const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return { transport, server, seen, url, post, log, errors };
}

async function messageOf(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: { message: string } };
  return error.message;
}

describe('a Rest server', () => {
  it('listens at /rest, says so, and serves calls without initialize (B7-01, B7-02, B7-08, B7-14)', async () => {
    const { url, post, log } = await start();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/rest$/);
    expect(log).toEqual([`MCP Rest server listens at ${url}`]);
    expect(await (await post(call(1, 'plain'))).json()).toEqual(textAnswer(1, 'plain'));
    expect(await (await post([call(1, 'plain'), call('1', 'plain')])).json()).toEqual([
      textAnswer(1, 'plain'),
      textAnswer('1', 'plain'),
    ]);
    expect((await fetch(url.replace('/rest', '/other'), { method: 'POST' })).status).toBe(404);
  });

  it('serves a server of the SDK’s version 1', async () => {
    const transport = new RestServerTransport({ port: 0, log: () => undefined });
    const server = new McpServerV1({ name: 'v1', version: '1' });
    server.registerTool('plain', {}, () => ({ content: [{ type: 'text' as const, text: 'of v1' }] }));
    await server.connect(transport as unknown as TransportV1);
    await transport.startServer();
    onTestFinished(() => server.close());
    const response = await fetch(transport.url ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call(1, 'plain')),
    });
    expect(await response.json()).toEqual(textAnswer(1, 'of v1'));
  });

  it('starts once, not on a port that is taken, and again after it stopped (B7-02, B7-12)', async () => {
    const { transport, post, url } = await start();
    await expect(transport.startServer()).rejects.toThrow('Server is already running');
    const second = new RestServerTransport({ port: new URL(url).port });
    await expect(second.startServer()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await transport.stopServer();
    expect(transport.url).toBeUndefined();
    await expect(post(rpc(1, 'ping'))).rejects.toThrow();
    await transport.startServer();
    expect(transport.url).toBeDefined();
  });

  it('answers what runs with an error when it closes, and tells its server (B7-12)', async () => {
    const { transport, server, post, seen } = await start();
    let closed = 0;
    server.server.onclose = () => closed++;
    const running = post(call(1, 'wait', { ms: 60_000, label: 'running' }));
    await until(() => seen.started.includes('running'));
    await transport.close();
    expect(await (await running).json()).toMatchObject({ id: 1, error: { code: -32603 } });
    expect(closed).toBe(1);
  });

  it('answers 202 to notifications and to responses alone (B7-07, B7-13)', async () => {
    const { post } = await start();
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]) {
      const response = await post(body);
      expect([response.status, await response.text()]).toEqual([202, '']);
    }
  });

  it('refuses other methods, types and clients that take no JSON, in the words of the article (B7-03 to B7-05)', async () => {
    const { url, post } = await start();
    const got = await fetch(url);
    expect([got.status, got.headers.get('allow'), await got.json()]).toEqual([
      405,
      'POST',
      { jsonrpc: '2.0', error: { code: -32000, message: 'Method not allowed' }, id: null },
    ]);
    const html = await post(rpc(1, 'ping'), { accept: 'text/html' });
    expect([html.status, await messageOf(html)]).toEqual([
      406,
      'Not Acceptable: Client must accept application/json',
    ]);
    const text = await post('x', { 'content-type': 'text/plain' });
    expect([text.status, await messageOf(text)]).toEqual([
      415,
      'Unsupported Media Type: Content-Type must be application/json',
    ]);
  });

  it.each([['{"jsonrpc'], ['{}'], ['[]'], [[rpc(1, 'ping'), rpc(1, 'ping')]], ['"\xff']])(
    'answers %j with a parse error and tells its server why, not the caller (B7-06, B7-10, B7-13)',
    async (body) => {
      const { post, errors } = await start();
      const response = await post(body);
      expect([response.status, await response.json()]).toEqual([400, parseError]);
      expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(/could not be read/)]);
    },
  );

  it('stops reading a body that is too large (B7-06, T-134)', async () => {
    const { post } = await start({ maxBodyBytes: 1024 });
    expect((await post({ ...rpc(1, 'ping'), fill: 'x'.repeat(2000) })).status).toBe(413);
  });

  it('gives up at its time limit (B7-09)', async () => {
    const wait = call(1, 'wait', { ms: 60_000, label: 'late' });
    const now = await start({ timeoutMs: 50 });
    expect(await (await now.post(wait)).json()).toMatchObject({ id: 1, error: { code: -32001 } });
    await until(() => now.seen.aborted.includes('late'));
    const before = await start({ timeoutMs: 50, legacyTimeoutBody: true });
    const old = await before.post(wait);
    expect([old.status, await old.json()]).toEqual([200, []]);
  });

  it('tells a tool at once that the client cannot be asked (B7-11, B7-14)', async () => {
    const { post } = await start();
    expect(await (await post(call(1, 'ask'))).json()).toMatchObject({ id: 1, result: { isError: true } });
  });

  it('aborts what a client that went away had asked (B7-13)', async () => {
    const { url, seen } = await start();
    await postAndLeave(url, call(1, 'wait', { ms: 60_000, label: 'left' }), () =>
      seen.started.includes('left'),
    );
    await until(() => seen.aborted.includes('left'));
  });

  it('serves none but its own machine unless told, and pages of other sites never (B3-12, B7-13, T-131)', async () => {
    const { url, post } = await start();
    const foreign = await post(rpc(1, 'ping'), { origin: 'https://evil.example' });
    expect([foreign.status, await messageOf(foreign)]).toEqual([
      403,
      'Forbidden: the Origin header names another site; list its host in allowedHosts to serve its pages',
    ]);
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    httpRequest(url, { method: 'POST', headers: { host: 'evil.example' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).end();
    expect(await promise).toBe(403);
  });

  it('serves only whom it knows, where it is given how to know them (B7-13)', async () => {
    const ann = toSdkAuthInfo(authInfoWith('all'));
    const { post } = await start({
      authenticate: ({ headers }) => (headers.authorization === 'Bearer good' ? ann : undefined),
    });
    const refused = await post(call(1, 'echo', { text: 'a' }));
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const served = await post(call(1, 'echo', { text: 'a' }), { authorization: 'Bearer good' });
    expect(await served.json()).toEqual(textAnswer(1, 'a of ann'));
  });

  it('answers requests of another HTTP server, with a body that was read (B7-06)', async () => {
    const { transport } = await start();
    const http = createServer(
      (request, response) => void transport.handleRequest(request, response, call(1, 'plain')),
    );
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    onTestFinished(() => void http.close());
    const response = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: 'read before',
    });
    expect(await response.json()).toEqual(textAnswer(1, 'plain'));
  });

  it('answers what the server gave and JSON cannot hold with an error, and says what it was', async () => {
    const { server, post, log, errors } = await start();
    server.registerTool('big', {}, () => ({ content: [], structuredContent: { amount: 1n } }));
    expect(await (await post(call(1, 'big'))).json()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: notSerializable,
    });
    const said =
      'The MCP server gave something that cannot be written as JSON: result.structuredContent.amount is a BigInt.';
    expect([log.at(-1), errors.at(-1)?.message]).toEqual([said, said]);
    expect(await (await post(call(2, 'plain'))).json()).toEqual(textAnswer(2, 'plain'));
  });

  it('refuses an endpoint that is no path, and options there are not', () => {
    expect(() => new RestServerTransport({ endpoint: 'rest' })).toThrow('begins with /: "/rest"');
    const misspelled = { allowedHost: ['tools'] } as RestServerTransportOptions;
    expect(() => new RestServerTransport(misspelled)).toThrow(
      /no option allowedHost\. There are .*allowedHosts/,
    );
  });

  it('says 500 while no server is connected', async () => {
    const transport = new RestServerTransport({ port: 0, log: () => undefined });
    await transport.startServer();
    onTestFinished(() => transport.close());
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(rpc(1, 'ping'));
    expect((await fetch(transport.url ?? '', { method: 'POST', headers, body })).status).toBe(500);
  });
});
