import { describe, expect, it } from 'vitest';
import { ask } from '../../../src/doctor/ask.ts';
import { openExamination } from '../../../src/doctor/examination.ts';
import {
  anonymousInitialize,
  challengedMetadata,
  firstRefusal,
  isServed,
  messageOf,
} from '../../../src/doctor/reach/anonymous.ts';
import { parseChallenges } from '../../../src/oauth/challenge.ts';
import { type Reply, serve } from '../support/http.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

async function opened(fault?: Fault) {
  const server = await startServer(fault ? { fault } : {});
  const examination = openExamination({ url: server.url, fetch, now: () => 0, timeoutMs: 2000 });
  return { server, examination, subject: examination.look().subject };
}

/** What a server without a login answers. */
const openTo =
  (...methods: readonly string[]): Fault =>
  (server) =>
    server.change(routeNames.mcp, (reply, { body }) => {
      const { method } = JSON.parse(body || '{}') as { method?: string };
      if (method === undefined || !methods.includes(method)) return reply;
      return { headers: { 'mcp-session-id': 's1' }, json: { jsonrpc: '2.0', id: 'doctor', result: {} } };
    });

describe('the first refusal', () => {
  it('is that of initialize, else of the stream, else of tools', async () => {
    const { subject } = await opened();
    expect((await subject.fact(firstRefusal))?.answer).toMatchObject({ method: 'POST', status: 401 });

    const lazy = await opened(openTo('initialize'));
    expect((await lazy.subject.fact(firstRefusal))?.answer.method).toBe('GET');

    const lazier = await opened((server) => {
      openTo('initialize', 'tools/list')(server);
      server.routes['GET /mcp'] = () => ({ status: 405 });
    });
    const refusal = await lazier.subject.fact(firstRefusal);
    expect(refusal?.answer.status).toBe(401);
    expect(refusal?.again().body).toContain('gatehouse-doctor-no-such-tool');
  });

  it('is none where everybody is served', async () => {
    const { subject } = await opened((server) => {
      openTo('initialize', 'tools/list', 'tools/call')(server);
      server.routes['GET /mcp'] = () => ({ status: 405 });
    });
    expect(await subject.fact(firstRefusal)).toBeUndefined();
  });
});

describe('initialize without a token', () => {
  it('leaves no session behind', async () => {
    const { server, examination, subject } = await opened(openTo('initialize'));
    await subject.fact(anonymousInitialize);
    await examination.finish();
    const last = server.requests.at(-1);
    expect(last?.method).toBe('DELETE');
    expect(last?.headers['mcp-session-id']).toBe('s1');
  });
});

describe('the place that challenges name', () => {
  it.each([
    ['Bearer resource_metadata="https://a/x"', 'https://a/x'],
    ['DPoP resource_metadata="https://a/d", Bearer resource_metadata="https://a/b"', 'https://a/b'],
    ['DPoP resource_metadata="https://a/d", Bearer', 'https://a/d'],
    ['Bearer realm="x"', undefined],
  ])('of %s is %s', (header, place) => {
    expect(challengedMetadata({ challenges: parseChallenges(header) })).toBe(place);
  });
});

describe('a served request', () => {
  async function answerOf(reply: Reply, method = 'POST') {
    const url = await serve(() => reply);
    return ask(subjectOf(url), url, { method });
  }

  const event = (message: object): Reply => ({
    headers: { 'content-type': 'text/event-stream' },
    text: `event: message\ndata: ${JSON.stringify(message)}\n\n`,
  });

  describe('what was served', () => {
    it.each<[string, Reply, boolean]>([
      ['a result', { json: { id: 1, result: {} } }, true],
      ['a result as an event', event({ id: 1, result: {} }), true],
      ['a tool that is not there', { json: { id: 1, error: { code: -32602 } } }, true],
      ['a refusal with status 200', { json: { id: 1, error: { code: -32001 } } }, false],
      ['a page', { headers: { 'content-type': 'text/html' }, text: '<h1>Hello</h1>' }, false],
      ['a refusal with a result', { status: 401, json: { id: 1, result: {} } }, false],
    ])('of %s is told by status and message', async (_what, reply, served) => {
      expect(isServed(await answerOf(reply))).toBe(served);
    });

    it('of a GET is a stream', async () => {
      expect(isServed(await answerOf(event({}), 'GET'))).toBe(true);
      expect(isServed(await answerOf({ json: { id: 1, result: {} } }, 'GET'))).toBe(false);
    });

    it('has a message or none', async () => {
      expect(messageOf(await answerOf(event({ id: 7 })))).toEqual({ id: 7 });
      expect(messageOf(await answerOf({ text: 'no' }))).toBeUndefined();
    });
  });
});
