import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  acceptsJson,
  checkRestAccept,
  checkRestMethod,
  createRestTransport,
  restBody,
} from '../../../src/mcp/rest/endpoint.ts';
import {
  call,
  postAndLeave,
  rpc,
  type ServedOptions,
  serveTransport,
  textAnswer,
  until,
} from '../support/served-transport.ts';

const checks = {
  checkMethod: ({ method }: { method: string }) => checkRestMethod(method),
  checkAccept: ({ headers }: { headers: { accept?: string } }) => checkRestAccept(headers.accept),
};

function start(chosen: { timeoutMs?: number } = {}, options: ServedOptions = {}) {
  return serveTransport((given) => createRestTransport({ ...given, ...chosen }), {
    preflight: checks,
    ...options,
  });
}

/** Answer headers as they stand on the wire: fetch hides `Connection`. */
async function headersOf(url: string, method: string, body?: unknown) {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  const headers = { 'content-type': 'application/json' };
  const req = httpRequest(url, { method, headers }, (response) => {
    response.resume();
    resolve({ status: response.statusCode, ...response.headers });
  });
  req.on('error', reject);
  req.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

describe('the Rest transport', () => {
  it('answers one request with an object, several with an array, without initialize (B7-08, B7-14)', async () => {
    const { post } = await start();
    const one = await post(call(1, 'echo', { text: 'a' }));
    expect([one.status, one.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await one.json()).toEqual(textAnswer(1, 'a of ann'));
    const notification = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
    const mixed = await post([call(1, 'echo', { text: 'a' }), notification]);
    expect(await mixed.json()).toEqual(textAnswer(1, 'a of ann'));
    const several = await post([call('1', 'echo', { text: 'text' }), call(1, 'echo', { text: 'number' })]);
    expect(await several.json()).toEqual([textAnswer('1', 'text of ann'), textAnswer(1, 'number of ann')]);
  });

  it('answers notifications or responses alone with 202 and no body (B7-07, B7-13)', async () => {
    const { post } = await start();
    const only = [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 5, result: {} },
      [{ jsonrpc: '2.0', id: 5, error: { code: 1, message: 'no' } }],
    ];
    for (const body of only) {
      const response = await post(body);
      expect([response.status, await response.text()]).toEqual([202, '']);
    }
  });

  it('ends the connection with every answer, and serves POST alone (B7-01, B7-03, T-151)', async () => {
    const { url } = await start();
    expect(await headersOf(url, 'POST', rpc(1, 'ping'))).toMatchObject({ status: 200, connection: 'close' });
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await headersOf(url, 'POST', notification)).toMatchObject({ status: 202, connection: 'close' });
    expect(await headersOf(url, 'POST', [rpc(1, 'ping'), rpc(1, 'ping')])).toMatchObject({
      status: 400,
      connection: 'close',
    });
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
      expect(await headersOf(url, method)).toMatchObject({ status: 405, allow: 'POST', connection: 'close' });
  });

  it.each([
    ['text/html', 406],
    ['text/event-stream', 406],
    ['application/json;q=0, */*', 406],
    ['application/json', 200],
    ['application/*', 200],
    ['*/*', 200],
  ])('to a client that accepts %s says %i (B7-04)', async (accept, status) => {
    const { post } = await start();
    expect((await post(rpc(1, 'ping'), { accept })).status).toBe(status);
  });

  it('takes a client that names nothing it accepts (B7-04)', () => {
    expect(acceptsJson(undefined)).toBe(true);
    expect(checkRestAccept(undefined)).toBeUndefined();
  });

  it.each([
    ['another content type', 'x=1', { 'content-type': 'text/plain' }, 415],
    ['a body that is not JSON', '{"jsonrpc"', {}, 400],
    ['a body that is no message', '{"id":1}', {}, 400],
    ['an empty batch', '[]', {}, 400],
    [
      'more than 100 messages',
      JSON.stringify(Array.from({ length: 101 }, (_, id) => rpc(id, 'ping'))),
      {},
      400,
    ],
    ['ids that repeat', [rpc(1, 'ping'), rpc(1, 'ping')], {}, 400],
    ['initialize in a batch', [rpc(1, 'initialize'), rpc(2, 'ping')], {}, 400],
    ['a revision that is not served', rpc(1, 'ping'), { 'mcp-protocol-version': '2026-07-28' }, 400],
    ['too large a body', JSON.stringify({ ...rpc(1, 'ping'), fill: 'x'.repeat(1_000_000) }), {}, 413],
  ])(
    'refuses %s (B7-05, B7-06, B7-10, B7-13, T-136, T-151)',
    async (_fault, body, headers: object, status) => {
      const { post } = await start();
      const response = await post(body, headers as Record<string, string>);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
    },
  );

  it('takes 100 messages at once (B7-06)', async () => {
    const { post } = await start();
    const answers = await (await post(Array.from({ length: 100 }, (_, id) => rpc(id, 'ping')))).json();
    expect(answers).toHaveLength(100);
  });

  it('ends at its time limit with an error for each request (B7-09)', async () => {
    const { post } = await start({ timeoutMs: 60 });
    const late = await post(call(1, 'wait', { ms: 60_000, label: 'late' }));
    expect([late.status, await late.json()]).toMatchObject([200, { id: 1, error: { code: -32001 } }]);
  });

  it('aborts what a client that went away had asked (B7-13)', async () => {
    const { url, seen } = await start();
    const body = call(1, 'wait', { ms: 60_000, label: 'left' });
    await postAndLeave(url, body, () => seen.started.includes('left'));
    await until(() => seen.aborted.includes('left'));
  });

  it('keeps scopes as the MCP endpoint does (T-102, T-151)', async () => {
    const { post } = await start({}, { rules: { tools: { echo: ['talking'] } } });
    const refused = await post(call(1, 'echo', { text: 'a' }), { 'x-scopes': 'reading' });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer .*insufficient_scope/);
  });

  it('gives one answer as it is and several as an array (B7-08)', () => {
    expect([restBody([]), restBody(['a']), restBody(['a', 'b'])]).toEqual([undefined, 'a', ['a', 'b']]);
  });
});
