import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createCallLimit } from '../../../src/mcp/http/limits.ts';
import type { Backend } from '../../../src/mcp/protocol.ts';
import { createScopeGate } from '../../../src/mcp/scopes/scope-gate.ts';
import { modernRequest, type RpcAnswer, readAnswer, readAnswers } from '../support/gate.ts';
import { type ModernEndpoint, oneServer, serverEach, startModern } from '../support/modern-endpoint.ts';
import { addTools, type Seen, wait } from '../support/modern-tools.ts';

/** Every rule here holds for one server of all callers and for a server each. */
const kinds = [
  ['one server for all', oneServer],
  ['a server each', serverEach],
] as const;

const errorOf = async (response: Response): Promise<unknown[]> => {
  const { id, error } = await readAnswer(response);
  return [response.status, id, error?.code];
};

/** A request with more in its `_meta`. */
function withMeta(request: ReturnType<typeof modernRequest>, more: object) {
  const json = structuredClone(request.json) as { params: { _meta: object } };
  Object.assign(json.params._meta, more);
  return { ...request, json };
}

describe.each(kinds)('2026-07-28 with %s', (_kind, sourceOf) => {
  const start = async (
    options: Parameters<typeof startModern>[1] = {},
  ): Promise<{ endpoint: ModernEndpoint; seen: Seen }> => {
    const seen: Seen = { started: [], aborted: [], finished: [] };
    return {
      endpoint: await startModern(
        sourceOf((server) => addTools(server, seen)),
        options,
      ),
      seen,
    };
  };

  it('serves the client of the SDK: discovery, lists, calls, prompts and resources (C3-03)', async () => {
    const { endpoint } = await start();
    const client = await endpoint.connect('ann');
    expect(client.getServerVersion()).toMatchObject({ name: 'test' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('whoami');
    expect(await client.callTool({ name: 'whoami', arguments: {} })).toMatchObject({
      content: [{ text: 'ann' }],
    });
    expect(await client.readResource({ uri: 'test://a' })).toMatchObject({ contents: [{ text: 'a' }] });
    expect(await client.getPrompt({ name: 'hello' })).toMatchObject({ messages: [{ role: 'user' }] });
  });

  it('answers with JSON where a tool says nothing before its answer (B5-13, C1-04, C3-04)', async () => {
    const { endpoint } = await start();
    const response = await endpoint.call('ann', 'tools/call', { name: 'whoami', arguments: {} }, 7);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await readAnswer(response)).toMatchObject({
      id: 7,
      result: {
        resultType: 'complete',
        content: [{ text: 'ann' }],
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test' } },
      },
    });
  });

  it('streams where a tool reports progress, the answer last, under the token the client chose (B5-13, C6-03)', async () => {
    const { endpoint } = await start();
    const request = withMeta(modernRequest('tools/call', wait(60, 'a', 2)), { progressToken: 'mine' });
    const response = await endpoint.send('ann', request);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await readAnswers(response)).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'mine', progress: 1 } },
      { method: 'notifications/progress', params: { progressToken: 'mine', progress: 2 } },
      { id: 1, result: { content: [{ text: 'a for ann' }] } },
    ]);
  });

  it('sends log messages from the level the request asks for, and none where it asks for none (C6-04)', async () => {
    const { endpoint } = await start();
    const logs = async (level?: string): Promise<number> => {
      const meta = level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level };
      const request = withMeta(modernRequest('tools/call', wait(10, 'a', 1)), meta);
      const answers = (await readAnswers(await endpoint.send('ann', request))) as { method?: string }[];
      return answers.filter(({ method }) => method === 'notifications/message').length;
    };
    expect([await logs('debug'), await logs('error'), await logs()]).toEqual([1, 0, 0]);
  });

  it('opens a stream for an answer that takes long (B5-13)', async () => {
    const { endpoint } = await start({ streamAfterMs: 20 });
    const response = await endpoint.call('ann', 'tools/call', wait(150));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await readAnswer(response)).toMatchObject({ result: { content: [{ text: 'a for ann' }] } });
  });

  it('cancels the work of a client that is gone, and sends nothing more (B5-14, T-141)', async () => {
    const { endpoint, seen } = await start();
    const leaving = new AbortController();
    const gone = endpoint.send('ann', { ...modernRequest('tools/call', wait(300)), signal: leaving.signal });
    const stays = endpoint.call('bob', 'tools/call', wait(300, 'b'));
    await vi.waitFor(() => expect(seen.started.sort()).toEqual(['a', 'b']));
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await vi.waitFor(() => expect(seen.aborted).toEqual(['a']));
    expect(await readAnswer(await stays)).toMatchObject({ result: { content: [{ text: 'b for bob' }] } });
  });

  it('answers callers with equal ids and tokens each its own, whatever they choose (T-127, T-137, T-142)', async () => {
    const { endpoint } = await start();
    const tokens = [1, '1', 0, '__proto__', 'toString'];
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const progressToken = tokens[at % tokens.length];
        const request = modernRequest('tools/call', wait(Math.random() * 40, `l${at}`, 2), 1);
        const response = await endpoint.send(`s${at}`, withMeta(request, { progressToken }));
        const params = { progressToken, message: `l${at}` };
        expect(await readAnswers(response)).toMatchObject([
          { params },
          { params },
          { id: 1, result: { content: [{ text: `l${at} for s${at}` }] } },
        ]);
      }),
    );
  });

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', '__proto__', 'no/such'])(
    'answers 404 to %s, which it does not have (B5-06, C3-06, T-137)',
    async (method) => {
      const { endpoint } = await start();
      expect(await errorOf(await endpoint.call('ann', method, {}, 3))).toEqual([404, 3, -32601]);
    },
  );

  it.each<[string, Record<string, string | undefined>, number]>([
    ['a missing Mcp-Method', { 'mcp-method': undefined }, -32020],
    ['another Mcp-Method', { 'mcp-method': 'tools/list' }, -32020],
    ['a missing Mcp-Name', { 'mcp-name': undefined }, -32020],
    ['another Mcp-Name', { 'mcp-name': 'look' }, -32020],
    ['another version than the body', { 'mcp-protocol-version': '2025-11-25' }, -32020],
    ['no version header', { 'mcp-protocol-version': undefined }, -32020],
  ])('refuses %s with 400 and the id (B5-04, T-132, T-133)', async (_what, changed, code) => {
    const { endpoint } = await start();
    const request = modernRequest('tools/call', { name: 'whoami', arguments: {} }, 9);
    const response = await endpoint.send('ann', { ...request, headers: { ...request.headers, ...changed } });
    expect(await errorOf(response)).toEqual([400, 9, code]);
  });

  it.each<[string, object, number]>([
    ['no client capabilities', { 'io.modelcontextprotocol/clientCapabilities': undefined }, -32602],
    ['wrong client capabilities', { 'io.modelcontextprotocol/clientCapabilities': 'all' }, -32602],
    ['no version in the body', { 'io.modelcontextprotocol/protocolVersion': undefined }, -32602],
  ])('refuses %s with 400 (C3-01)', async (_what, changed, code) => {
    const { endpoint } = await start();
    for (const method of ['tools/list', 'subscriptions/listen']) {
      const response = await endpoint.send('ann', withMeta(modernRequest(method), changed));
      expect((await errorOf(response)).toSpliced(1, 1)).toEqual([400, code]);
    }
  });

  it('does without clientInfo (C3-01)', async () => {
    const { endpoint } = await start();
    const request = withMeta(modernRequest('tools/list'), {
      'io.modelcontextprotocol/clientInfo': undefined,
    });
    expect((await endpoint.send('ann', request)).status).toBe(200);
  });

  it('names the revisions it has to a client of another one (B5-05)', async () => {
    const { endpoint } = await start();
    const version = '2027-01-01';
    const request = withMeta(modernRequest('tools/list'), {
      'io.modelcontextprotocol/protocolVersion': version,
    });
    const headers = { ...request.headers, 'mcp-protocol-version': version };
    const response = await endpoint.send('ann', { ...request, headers });
    expect(response.status).toBe(400);
    expect((await readAnswer(response)).error).toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'], requested: version },
    });
  });

  it('refuses a batch, and takes notifications with 202 (B5-02, T-136)', async () => {
    const { endpoint } = await start();
    const { headers = {}, json } = modernRequest('tools/list');
    expect((await errorOf(await endpoint.send('ann', { headers, json: [json] }))).toSpliced(1, 1)).toEqual([
      400, -32600,
    ]);
    const method = 'notifications/cancelled';
    const notification = await endpoint.send('ann', {
      headers: { ...headers, 'mcp-method': method },
      json: { jsonrpc: '2.0', method, params: { requestId: 1 } },
    });
    expect([notification.status, await notification.text()]).toEqual([202, '']);
  });

  it('gives nobody a way to cancel the calls of others (T-141)', async () => {
    const { endpoint, seen } = await start();
    const running = endpoint.call('ann', 'tools/call', wait(150));
    await vi.waitFor(() => expect(seen.started).toEqual(['a']));
    const { headers = {} } = modernRequest('notifications/cancelled');
    for (let requestId = 0; requestId < 10; requestId++) {
      const json = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
      await endpoint.send('bob', { headers, json });
    }
    expect((await readAnswer(await running)).result).toBeDefined();
    expect(seen.finished).toEqual(['a']);
  });

  it('answers errors of handlers with 200, as they are about the call (C9)', async () => {
    const { endpoint } = await start();
    const unknown = await endpoint.call('ann', 'tools/call', { name: 'nobody', arguments: {} });
    expect(await errorOf(unknown)).toEqual([200, 1, -32602]);
    const missing = await endpoint.call('ann', 'resources/read', { uri: 'test://none' });
    expect(await errorOf(missing)).toEqual([200, 1, -32602]);
  });

  it('refuses a tool that needs a capability the client did not declare with 400 (C3-05)', async () => {
    const { endpoint } = await start();
    const response = await endpoint.call('ann', 'tools/call', { name: 'name', arguments: {} });
    expect(response.status).toBe(400);
    expect((await readAnswer(response)).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: {} } },
    });
  });

  it('asks the client for input and goes on with the answer (C4-02, C4-05)', async () => {
    const { endpoint } = await start();
    const client = await endpoint.connect('ann', { capabilities: { elicitation: {} } });
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { name: 'Ann' },
    }));
    expect(await client.callTool({ name: 'name', arguments: {} })).toMatchObject({
      content: [{ text: 'asked ann: Ann' }],
    });
  });

  it('takes a request state only from the caller it was given to, unchanged (A12-05, C4-03, T-129)', async () => {
    const { endpoint } = await start();
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const ask = withMeta(modernRequest('tools/call', { name: 'name', arguments: {} }), meta);
    const { requestState } = (await readAnswer(await endpoint.send('ann', ask))).result ?? {};
    const retry = async (subject: string, state: unknown): Promise<RpcAnswer> => {
      const inputResponses = { name: { action: 'accept', content: { name: 'X' } } };
      const params = { name: 'name', arguments: {}, requestState: state, inputResponses };
      return readAnswer(await endpoint.send(subject, withMeta(modernRequest('tools/call', params), meta)));
    };
    expect((await retry('ann', requestState)).result).toMatchObject({ content: [{ text: 'asked ann: X' }] });
    expect((await retry('bob', requestState)).error?.code).toBe(-32602);
    const flipped = String(requestState).replace(/^(.{40})./s, (_all, head) => `${head}!`);
    expect((await retry('ann', flipped)).error?.code).toBe(-32602);
    expect((await retry('ann', 'asked ann')).error?.code).toBe(-32602);
  });

  it('checks headers that mirror parameters (B5-10, T-132)', async () => {
    const { endpoint } = await start();
    const client = await endpoint.connect('ann');
    await client.listTools();
    const region = { name: 'region', arguments: { region: 'eu ö' } };
    expect(await client.callTool(region)).toMatchObject({ content: [{ text: 'eu ö' }] });
    const request = modernRequest('tools/call', region, 4);
    expect(await errorOf(await endpoint.send('ann', request))).toEqual([400, 4, -32020]);
    const headers = { ...request.headers, 'mcp-param-region': 'us' };
    expect(await errorOf(await endpoint.send('ann', { ...request, headers }))).toEqual([400, 4, -32020]);
  });

  it('asks the server for the scopes of a tool, and says which are missing (A8-04)', async () => {
    const { endpoint } = await start();
    const response = await endpoint.call('ann', 'tools/call', { name: 'secret', arguments: {} });
    expect(await errorOf(response)).toEqual([403, 1, -32000]);
    expect(response.headers.get('www-authenticate')).toContain('scope="notes:secret"');
    const request = modernRequest('tools/call', { name: 'secret', arguments: {} });
    const headers = { ...request.headers, 'x-scopes': 'notes:secret' };
    expect((await endpoint.send('ann', { ...request, headers })).status).toBe(200);
  });

  it('leaves out of lists what the scopes do not suffice for, where that is wished', async () => {
    const gate = createScopeGate(
      { lists: 'granted', tools: { look: ['notes:look'] } },
      'http://127.0.0.1/prm',
    );
    const { endpoint } = await start({ gate });
    const { result = {} } = await readAnswer(await endpoint.call('ann', 'tools/list'));
    const names = (result.tools as { name: string }[]).map(({ name }) => name);
    expect(names).toContain('whoami');
    expect(names).not.toContain('look');
    expect(names).not.toContain('secret');
  });

  it('lets a principal have so many calls in flight, and no more', async () => {
    const { endpoint, seen } = await start({ calls: createCallLimit(2) });
    const running = [1, 2].map(() => endpoint.call('ann', 'tools/call', wait(200)));
    await vi.waitFor(() => expect(seen.started).toHaveLength(2));
    expect(await errorOf(await endpoint.call('ann', 'tools/list', {}, 5))).toEqual([429, 5, -32000]);
    expect((await endpoint.call('bob', 'tools/list')).status).toBe(200);
    await Promise.all(running);
    expect((await endpoint.call('ann', 'tools/list')).status).toBe(200);
  });

  it('shows a tool its request without credentials (A7-04, T-105)', async () => {
    const { endpoint } = await start();
    const request = modernRequest('tools/call', { name: 'look', arguments: {} });
    const headers = { ...request.headers, authorization: 'Bearer secret', cookie: 'secret' };
    const { result = {} } = await readAnswer(await endpoint.send('ann', { ...request, headers }));
    const [{ text }] = result.content as [{ text: string }];
    expect(text).toContain(`"url":"${endpoint.url}"`);
    expect(text).toContain('"mcp-method","tools/call"');
    expect(text).not.toContain('secret');
  });

  it('cuts off the stream of a call when the access of its caller ends (A12-04)', async () => {
    const { endpoint, seen } = await start({ streamAfterMs: 10 });
    const response = await endpoint.call('ann', 'tools/call', wait(2000));
    endpoint.revoke('ann');
    expect(await readAnswers(response)).toEqual([]);
    await vi.waitFor(() => expect(seen.aborted).toEqual(['a']));
  });

  it('ends what runs when it is closed, and takes nothing new', async () => {
    const { endpoint, seen } = await start();
    const running = endpoint.call('ann', 'tools/call', wait(2000));
    await vi.waitFor(() => expect(seen.started).toEqual(['a']));
    await endpoint.close();
    expect((await running).status).toBe(500);
    expect((await endpoint.call('ann', 'tools/list')).status).toBe(503);
    await sleep(0);
    expect(seen.aborted).toEqual(['a']);
  });
});

describe('2026-07-28 with what a source brings for it', () => {
  it('reaches it only with the scopes that are needed, and its answers carry states of this endpoint alone (A8-04, C4-03)', async () => {
    const reached: unknown[] = [];
    const brought: Backend = {
      checksEnvelope: 'all',
      begin(call) {
        reached.push(call.request.params?.requestState ?? call.request.method);
        call.answer({ status: 200, result: { resultType: 'input_required', requestState: 'inner' } });
        return () => {};
      },
      notify() {},
      discover: async () => ({ capabilities: {}, serverInfo: undefined }),
      close: async () => {},
    };
    const gate = createScopeGate({ tools: { look: ['notes:look'] } }, 'http://127.0.0.1/prm');
    const create = () => Promise.reject(new Error('not needed'));
    const endpoint = await startModern(
      { sharing: 'principal', create, modern: async () => brought },
      { gate },
    );
    const look = { name: 'look', arguments: {} };
    expect(await errorOf(await endpoint.call('ann', 'tools/call', look))).toEqual([403, 1, -32000]);
    expect(reached).toEqual([]);
    const other = { name: 'other', arguments: {} };
    const { result = {} } = await readAnswer(await endpoint.call('ann', 'tools/call', other));
    const { requestState } = result;
    expect(requestState).not.toContain('inner');
    await endpoint.call('ann', 'tools/call', { ...other, requestState });
    await endpoint.call('bob', 'tools/call', { ...other, requestState });
    expect(reached).toEqual(['tools/call', 'inner']);
  });

  it('tells who waits until it is known that a server starts, with what is asked of everybody checked before (A8-04, B5-10)', async () => {
    const { promise, resolve } = Promise.withResolvers<Backend>();
    const gate = createScopeGate({ tools: { look: ['notes:look'] } }, 'http://127.0.0.1/prm');
    const create = () => Promise.reject(new Error('not needed'));
    const endpoint = await startModern({ sharing: 'principal', create, modern: () => promise }, { gate });
    expect(await errorOf(await endpoint.call('ann', 'tools/call', { name: 'look' }))).toEqual([
      403, 1, -32000,
    ]);
    const request = withMeta(modernRequest('tools/call', wait(0)), { progressToken: 'mine' });
    const response = await endpoint.send('ann', request);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    resolve({
      checksEnvelope: 'all',
      begin(call) {
        call.answer({ status: 200, result: { resultType: 'complete', content: [] } });
        return () => {};
      },
      notify() {},
      inputSchemaOf: async () => ({}),
      discover: async () => ({ capabilities: {}, serverInfo: undefined }),
      close: async () => {},
    });
    const [progress, answer] = await readAnswers(response);
    expect(progress).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'mine', message: 'The MCP server is starting.' },
    });
    expect(answer).toMatchObject({ id: 1, result: { content: [] } });
  });
});
