import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it, vi } from 'vitest';
import { callerOf, type McpLike } from '../../../src/mcp/index.ts';
import {
  defaultSessionLimits,
  initializeRequest,
  readAnswer,
  readAnswers,
  startGate,
} from '../support/gate.ts';
import { createSlowServer, wait } from '../support/tools.ts';

const ping = (id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'ping' });
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
const inSession = (session: string, more: Record<string, string> = {}) => ({
  'mcp-session-id': session,
  ...more,
});

describe('a session', () => {
  it('begins with initialize and a random id of visible characters (B3-10, A12-04)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const ids = [await gate.initialize(token), await gate.initialize(token)];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{43}$/);
  });

  it.each(['POST', 'GET', 'DELETE'])('must be named: %s without its id is 400 (B3-10)', async (method) => {
    const gate = await startGate();
    const response = await gate.send(gate.issue('ann'), { method, json: ping() });
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([400, -32000]);
  });

  it.each(['POST', 'GET', 'DELETE'])('must be known: %s with another id is 404 (B3-10)', async (method) => {
    const gate = await startGate();
    const response = await gate.send(gate.issue('ann'), { method, json: ping(), headers: inSession('nope') });
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([404, -32001]);
  });

  it('ends with DELETE; its id is unknown from then on (B3-10)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    expect((await gate.send(token, { method: 'DELETE', headers })).status).toBe(200);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(404);
    expect(seen).toMatchObject({ made: 1, closed: 1 });
  });

  it.each(['POST', 'GET', 'DELETE'])(
    'is unknown to another account by %s (T-125, A12-04)',
    async (method) => {
      const gate = await startGate();
      const ann = gate.issue('ann');
      const headers = inSession(await gate.initialize(ann));
      const theft = await gate.send(gate.issue('bob'), { method, headers, json: ping() });
      const unknown = await gate.send(gate.issue('bob'), {
        method,
        headers: inSession('nope'),
        json: ping(),
      });
      expect([theft.status, await theft.json()]).toEqual([unknown.status, await unknown.json()]);
      expect((await gate.send(ann, { json: ping(), headers })).status).toBe(200);
    },
  );

  it('is unknown to another client of the account, and known to its refreshed token (T-126, T-104)', async () => {
    const gate = await startGate();
    const headers = inSession(await gate.initialize(gate.issue('ann', { clientId: 'client-1' })));
    const otherClient = gate.issue('ann', { clientId: 'client-2' });
    const runTogether = gate.issue('ann","client-1', { clientId: '' });
    const refreshed = gate.issue('ann', { clientId: 'client-1' });
    expect((await gate.send(otherClient, { json: ping(), headers })).status).toBe(404);
    expect((await gate.send(runTogether, { json: ping(), headers })).status).toBe(404);
    expect((await gate.send(refreshed, { json: ping(), headers })).status).toBe(200);
  });

  it('is no authentication: its id without a token, or with an expired one, is 401 (A12-04)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    expect((await gate.send(undefined, { json: ping(), headers })).status).toBe(401);
    gate.passTime(3600);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(401);
  });

  it('takes the scopes of each request, not those it was opened with (A12-04)', async () => {
    const gate = await startGate();
    const session = await gate.initialize(gate.issue('ann'));
    const lesser = gate.issue('ann', { scopes: ['notes:read'] });
    const json = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'add_note', arguments: { text: 'x' } },
    };
    expect((await gate.send(lesser, { json, headers: inSession(session) })).status).toBe(403);
  });

  it('ends when it was idle for too long (T-144)', async () => {
    const gate = await startGate({
      sessionLimits: { ...defaultSessionLimits, maxPerPrincipal: 10, maxTotal: 10, idleSeconds: 60 },
    });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    gate.passTime(59);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(200);
    gate.passTime(59);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(200);
    gate.passTime(60);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(404);
  });

  it('is not opened by an initialize that names no version (T-144)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source });
    const json = { jsonrpc: '2.0', id: 5, method: 'initialize', params: {} };
    const response = await gate.send(gate.issue('ann'), { json });
    expect([response.status, await readAnswer(response)]).toMatchObject([
      400,
      { id: 5, error: { code: -32602 } },
    ]);
    expect([response.headers.get('mcp-session-id'), seen.made]).toEqual([null, 0]);
  });

  it('leaves nothing behind when its server cannot be made', async () => {
    let fail = true;
    const { source } = createSlowServer();
    const gate = await startGate({
      source: {
        sharing: 'each',
        create: (context) => (fail ? Promise.reject(new Error('secret reason')) : source.create(context)),
      },
      sessionLimits: { ...defaultSessionLimits, maxPerPrincipal: 1, maxTotal: 1, idleSeconds: 60 },
    });
    const failed = await gate.send(gate.issue('ann'), { json: initializeRequest() });
    expect([failed.status, await failed.text()]).toEqual([500, 'Internal Server Error']);
    fail = false;
    expect((await gate.send(gate.issue('bob'), { json: initializeRequest() })).status).toBe(200);
  });

  it('serves a server made with the SDK of version 1, and tells it who calls', async () => {
    const gate = await startGate({
      source: {
        sharing: 'each',
        create: () => {
          const server = new ServerV1({ name: 'v1', version: '1.0.0' });
          server.registerTool('who', {}, (extra: Parameters<typeof callerOf>[0]) => ({
            content: [{ type: 'text' as const, text: callerOf(extra).subject }],
          }));
          return server as unknown as McpLike;
        },
      },
    });
    const client = await gate.connect(gate.issue('ann'));
    expect(await client.callTool({ name: 'who', arguments: {} })).toMatchObject({
      content: [{ text: 'ann' }],
    });
  });
});

describe('a flood of sessions', () => {
  const sessionLimits = { ...defaultSessionLimits, maxPerPrincipal: 3, maxTotal: 5, idleSeconds: 60 };

  it('opens none without a token (T-144)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source, sessionLimits });
    for (let count = 0; count < 20; count++) await gate.send(undefined, { json: initializeRequest() });
    expect(seen.made).toBe(0);
  });

  it('of one account pushes out its own longest unused ones and nobody else (T-144)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source, sessionLimits });
    const [ann, bob] = [gate.issue('ann'), gate.issue('bob')];
    const ofBob = await gate.initialize(bob);
    const opened: string[] = [];
    for (let count = 0; count < 20; count++) opened.push(await gate.initialize(ann));
    const status = async (token: string, session: string) =>
      (await gate.send(token, { json: ping(), headers: inSession(session) })).status;
    expect(await Promise.all(opened.slice(-4).map((session) => status(ann, session)))).toEqual([
      404, 200, 200, 200,
    ]);
    expect(await status(bob, ofBob)).toBe(200);
    expect(seen.made - seen.closed).toBe(4);
  });

  it('is refused with 429 while all sessions of the account are busy (T-144)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ source, sessionLimits });
    const token = gate.issue('ann');
    for (let count = 0; count < 3; count++) {
      const headers = inSession(await gate.initialize(token));
      await gate.send(token, { json: { ...ping(), method: 'tools/call', params: wait(5000) }, headers });
    }
    const refused = await gate.send(token, { json: initializeRequest() });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  });

  it('of many accounts is refused with 503 once the server is full (T-144)', async () => {
    const gate = await startGate({ sessionLimits });
    for (let count = 0; count < 5; count++) await gate.initialize(gate.issue(`account-${count}`));
    const refused = await gate.send(gate.issue('late'), { json: initializeRequest() });
    expect(refused.status).toBe(503);
    gate.passTime(60);
    expect((await gate.send(gate.issue('later'), { json: initializeRequest() })).status).toBe(200);
  });
});

describe('messages of a session', () => {
  it('that want no answer are accepted with 202 and nothing (B3-03)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    for (const json of [initialized, { jsonrpc: '2.0', id: 7, result: {} }]) {
      const response = await gate.send(token, { json, headers });
      expect([response.status, await response.text()]).toEqual([202, '']);
    }
  });

  it('are answered on their own stream, progress first, which then ends (B3-04, B3-05, B3-08)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    const json = {
      ...ping(),
      method: 'tools/call',
      params: { ...wait(60, 'a', 2), _meta: { progressToken: 'p' } },
    };
    const response = await gate.send(token, { json, headers });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(response.headers.get('content-length')).toBeNull();
    const answers = await readAnswers(response);
    expect(answers).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } },
      { method: 'notifications/progress', params: { progressToken: 'p', progress: 2 } },
      { id: 1, result: { content: [{ text: 'a for ann' }] } },
    ]);
  });

  it('begin their stream with a comment, and comments keep it alive', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ source, keepAliveMs: 20 });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    const json = { ...ping(), method: 'tools/call', params: wait(100) };
    const text = await (await gate.send(token, { json, headers })).text();
    expect(text).toMatch(/^: open\n\nid: .*\ndata: \n\nretry: 1000\n\n(: keep-alive\n\n)+event: message\n/);
  });

  it('go on when the client is gone: a lost connection is no cancel (B3-06)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    const leaving = new AbortController();
    const json = { ...ping(), method: 'tools/call', params: wait(100) };
    await gate.send(token, { json, headers, signal: leaving.signal });
    leaving.abort();
    await vi.waitFor(() => expect(seen.finished).toEqual(['a']));
    expect(seen.aborted).toEqual([]);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(200);
  });

  it('are cancelled by notification: work stops, the stream ends, nothing more is sent (B3-06, T-141)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    const json = { ...ping(9), method: 'tools/call', params: wait(200) };
    const response = await gate.send(token, { json, headers });
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } };
    for (let times = 0; times < 2; times++)
      expect((await gate.send(token, { json: cancel, headers })).status).toBe(202);
    expect(await readAnswers(response)).toEqual([]);
    expect(seen).toMatchObject({ aborted: ['a'], finished: [] });
    await sleep(250);
    expect((await readAnswer(await gate.send(token, { json: ping(9), headers }))).result).toEqual({});
  });

  it('of one session are not cancelled from another (T-141)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source });
    const [ann, bob] = [gate.issue('ann'), gate.issue('bob')];
    const headers = inSession(await gate.initialize(ann));
    const response = await gate.send(ann, {
      json: { ...ping(9), method: 'tools/call', params: wait(150) },
      headers,
    });
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } };
    await gate.send(bob, { json: cancel, headers: inSession(await gate.initialize(bob)) });
    expect((await gate.send(bob, { json: cancel, headers })).status).toBe(404);
    expect((await readAnswer(response)).result).toMatchObject({ content: [{ text: 'a for ann' }] });
    expect(seen.aborted).toEqual([]);
  });

  it('with an id that is still being answered are refused, and the first is answered (T-142)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    const first = await gate.send(token, {
      json: { ...ping(3), method: 'tools/call', params: wait(100) },
      headers,
    });
    const second = await gate.send(token, { json: ping(3), headers });
    expect([second.status, (await readAnswer(second)).error?.code]).toEqual([400, -32600]);
    expect(await readAnswer(first)).toMatchObject({ id: 3, result: {} });
    expect(await readAnswer(await gate.send(token, { json: ping(3), headers }))).toMatchObject({
      id: 3,
      result: {},
    });
  });

  it.each([0, -7, '', 'ü', '1'.repeat(100_000)])('keep their id, whatever it is (T-142)', async (id) => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    expect((await readAnswer(await gate.send(token, { json: ping(id), headers }))).id).toBe(id);
  });

  it('of many callers with the same ids never cross (T-127)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ source });
    const callers = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const token = gate.issue(`account-${at}`);
        return { at, token, headers: inSession(await gate.initialize(token)) };
      }),
    );
    const calls = callers.flatMap((caller) => [1, 2, 3, 4, 5].map((id) => ({ ...caller, id })));
    await Promise.all(
      calls.map(async ({ at, token, headers, id }) => {
        const params = { ...wait(Math.random() * 50, `label-${at}-${id}`, 2), _meta: { progressToken: id } };
        const answers = await readAnswers(
          await gate.send(token, { json: { ...ping(id), method: 'tools/call', params }, headers }),
        );
        expect(answers).toHaveLength(3);
        for (const answer of answers) expect(JSON.stringify(answer)).toContain(`label-${at}-${id}`);
        expect(answers[2]).toMatchObject({
          id,
          result: { content: [{ text: `label-${at}-${id} for account-${at}` }] },
        });
      }),
    );
  });

  it('of another account cannot answer what the server asked this one (T-128)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ source });
    const [ann, bob] = [gate.issue('ann'), gate.issue('bob')];
    const opening = initializeRequest();
    const json = { ...opening, params: { ...opening.params, capabilities: { sampling: {} } } };
    const opened = await gate.send(ann, { json });
    await opened.text();
    const headers = inSession(opened.headers.get('mcp-session-id') ?? '');
    const ask = await gate.send(ann, {
      json: { ...ping(5), method: 'tools/call', params: { name: 'ask', arguments: {} } },
      headers,
    });
    const ofBob = inSession(await gate.initialize(bob));
    const reply = (id: number, text: string) => ({
      jsonrpc: '2.0',
      id,
      result: { role: 'assistant', model: 'm', content: { type: 'text', text } },
    });
    for (let id = 0; id <= 20; id++) {
      expect((await gate.send(bob, { json: reply(id, 'forged'), headers: ofBob })).status).toBe(202);
      expect((await gate.send(bob, { json: reply(id, 'forged'), headers })).status).toBe(404);
    }
    const reader = ask.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('sampling/createMessage')) text += (await reader?.read())?.value ?? '';
    const asked = JSON.parse(text.slice(text.indexOf('data: {') + 6).split('\n')[0] ?? '');
    await gate.send(ann, { json: reply(asked.id, 'real'), headers });
    while (!text.includes('"id":5')) text += (await reader?.read())?.value ?? '';
    expect(text).toContain('real');
    expect(text).not.toContain('forged');
  });

  it.each([
    { ...ping(), method: '__proto__' },
    { ...ping(), method: 'toString' },
    { ...ping(), method: 'tools/call', params: { name: 'constructor', arguments: {} } },
    { ...ping(), method: 'tools/call', params: { name: '__proto__', arguments: {} } },
    { ...ping(), method: 'prompts/get', params: { name: 'toString' } },
    { ...ping(), method: 'resources/read', params: { uri: 'constructor' } },
  ])('with names of object members find nothing: $method (T-137)', async (json) => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const response = await gate.send(token, { json, headers: inSession(await gate.initialize(token)) });
    const { result, error } = await readAnswer(response);
    expect(result?.isError === true || error?.code === -32601 || error?.code === -32602).toBe(true);
  });

  it('with __proto__ among the arguments pollute nothing (T-137)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_notes","__proto__":{"polluted":1},' +
      '"arguments":{"query":"","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}}';
    await (await gate.send(token, { body, headers: inSession(await gate.initialize(token)) })).text();
    expect('polluted' in {}).toBe(false);
  });
});

describe('the version of a session', () => {
  it('that is not supported is 400; one that is left out is the one agreed on (B3-17)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const session = await gate.initialize(token, '2025-06-18');
    const status = async (headers: Record<string, string>) =>
      (await gate.send(token, { json: ping(), headers: inSession(session, headers) })).status;
    expect(await status({ 'mcp-protocol-version': '2025-06-18' })).toBe(200);
    expect(await status({})).toBe(200);
    expect(await status({ 'mcp-protocol-version': '2025-09-09' })).toBe(400);
    expect(await status({ 'mcp-protocol-version': 'latest' })).toBe(400);
  });

  it('allows batches in 2025-03-26, with and without the header (B3-13)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const session = await gate.initialize(token, '2025-03-26');
    const withHeader: Record<string, string> = { 'mcp-protocol-version': '2025-03-26' };
    for (const more of [{}, withHeader]) {
      const json = [ping('a'), initialized, ping('b')];
      const answers = await readAnswers(await gate.send(token, { json, headers: inSession(session, more) }));
      expect(answers.map(({ id }) => id).sort()).toEqual(['a', 'b']);
    }
    const silent = await gate.send(token, { json: [initialized], headers: inSession(session) });
    expect(silent.status).toBe(202);
  });

  it.each<[string, Record<string, string>]>([
    ['2025-06-18', {}],
    ['2025-11-25', {}],
    ['2025-11-25', { 'mcp-protocol-version': '2025-03-26' }],
    ['2025-03-26', { 'mcp-protocol-version': '2025-06-18' }],
  ])('%s with %j allows no batches (B3-14, T-133, T-136)', async (version, more) => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token, version), more);
    const response = await gate.send(token, { json: [ping()], headers });
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([400, -32600]);
  });

  it('refuses a batch that uses an id twice (T-142)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token, '2025-03-26'));
    expect((await gate.send(token, { json: [ping(1), ping(1)], headers })).status).toBe(400);
  });
});
