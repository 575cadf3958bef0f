import { expect, test, vi } from 'vitest';
import { initializeRequest, readAnswer, readAnswers, startGate } from './support/gate.ts';
import { createTalkingServer } from './support/talking-server.ts';

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } };

test('the same server answers on every path, and each knows who calls', async () => {
  const gate = await startGate();
  const token = gate.issue('ann');
  const session = await gate.initialize(token);
  const inSession = await gate.call(token, session, 'tools/call', call.params);
  const modern = await readAnswer(await gate.callModern(token, 'tools/call', call.params));
  const rest = await fetch(gate.url.replace('/mcp', '/rest'), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(call),
  });
  for (const answer of [inSession, modern, await readAnswer(rest)])
    expect(answer.result?.structuredContent).toMatchObject({ account: 'ann' });
});

test('without sessions initialize gives no id, each request stands alone, and GET is not served', async () => {
  const gate = await startGate({ sessions: 'none' });
  const token = gate.issue('ann');
  const opened = await gate.send(token, { json: initializeRequest() });
  expect([opened.status, opened.headers.get('mcp-session-id')]).toEqual([200, null]);
  await opened.text();
  const answer = await readAnswer(await gate.send(token, { json: call }));
  expect(answer.result?.structuredContent).toMatchObject({ account: 'ann' });
  const stream = await gate.send(token, { method: 'GET' });
  expect([stream.status, stream.headers.get('allow')]).toEqual([405, 'POST']);
});

test('paths of one method say which', async () => {
  const gate = await startGate();
  const token = gate.issue('ann');
  for (const [path, method, allow] of [
    ['/sse', 'POST', 'GET'],
    ['/messages', 'GET', 'POST'],
    ['/rest', 'GET', 'POST'],
  ] as const) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(gate.url.replace('/mcp', path), { method, headers });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  }
});

test('an endpoint that is closing says so and when to come back (T-181)', async () => {
  const gate = await startGate();
  const token = gate.issue('ann');
  await gate.close();
  const response = await gate.send(token, { json: initializeRequest() });
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
});

test('without sessions and over Rest, calls that run when the endpoint closes are answered with an error (T-181)', async () => {
  const { source, runs } = createTalkingServer();
  const gate = await startGate({ source, scopeRules: {}, sessions: 'none' });
  const token = gate.issue('ann');
  const work = { ...call, params: { name: 'work', arguments: { ms: 60_000 } } };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const rest = fetch(gate.url.replace('/mcp', '/rest'), {
    method: 'POST',
    headers,
    body: JSON.stringify(work),
  });
  const answers = [gate.send(token, { json: work }), rest];
  await vi.waitFor(() => expect(runs).toEqual(['work', 'work']));
  await gate.close();
  for (const answer of answers)
    expect(await readAnswer(await answer)).toMatchObject({ id: 1, error: { code: -32603 } });
});

test('calls that run when the endpoint closes may end by themselves for as long as patience lasts (T-181)', async () => {
  const { source, runs } = createTalkingServer();
  const gate = await startGate({ source, scopeRules: {} });
  const token = gate.issue('ann');
  const session = await gate.initialize(token);
  const answers = [
    gate.send(token, {
      headers: { 'mcp-session-id': session },
      json: { ...call, params: { name: 'work', arguments: { ms: 100 } } },
    }),
    gate.callModern(token, 'tools/call', { name: 'work', arguments: { ms: 100 } }),
  ].map(async (response) => (await readAnswers(await response)).at(-1));
  await vi.waitFor(() => expect(runs).toEqual(['work', 'work']));
  const begun = performance.now();
  await gate.close(30_000);
  expect(performance.now() - begun).toBeLessThan(10_000);
  for (const answer of answers)
    expect(await answer).toMatchObject({ result: { content: [{ text: 'done' }] } });
});
