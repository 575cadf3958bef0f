import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { initializeRequest, readAnswer, readAnswers, startGate } from '../support/gate.ts';
import { createTalkingServer, initialized, inSession, ping, work } from '../support/talking-server.ts';
import { createSlowServer, wait } from '../support/tools.ts';

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
    const json = { ...ping(), method: 'tools/call', params: wait(500) };
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

  it('that were cancelled while what they changed was being kept are not answered for those that have their id then (T-141, T-142)', async () => {
    const { promise: kept, resolve: keep } = Promise.withResolvers<void>();
    const { source } = createTalkingServer();
    const gate = await startGate({
      source,
      wrapStore: (store) => ({
        ...store,
        async change(key, change) {
          const isChanged = await store.change(key, change);
          if (change.logLevel !== undefined) await kept;
          return isChanged;
        },
      }),
    });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    const set = { ...ping(7), method: 'logging/setLevel', params: { level: 'error' } };
    const cancelled = await gate.send(token, { json: set, headers });
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    await gate.send(token, { json: cancel, headers });
    expect(await readAnswers(cancelled)).toEqual([]);
    const next = await gate.send(token, { json: work(100), headers });
    keep();
    expect((await readAnswers(next)).at(-1)).toMatchObject({
      id: 7,
      result: { content: [{ text: 'done' }] },
    });
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
      json: { ...ping(3), method: 'tools/call', params: wait(500) },
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
