import { describe, expect, it } from 'vitest';
import { ask } from '../../../src/doctor/ask.ts';
import { isServed, messageOf } from '../../../src/doctor/reach/served.ts';
import { type Reply, serve } from '../support/http.ts';
import { subjectOf } from '../support/view.ts';

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
