import { describe, expect, it } from 'vitest';
import type { AfterRefusal } from '../../../src/gateway/credentials/credentials.ts';
import { createRefusedCredentials } from '../../../src/gateway/steps/refused-credentials.ts';
import { stepped } from './support/stepped.ts';

const unauthorized = { error: { code: -32603, message: '401', data: { reason: 'backend_wants_login' } } };
const done = { result: { content: [] } };
const asked = { error: { code: -32603, message: 'Enter another one.' } };

function start(answers: readonly object[], outcomes: readonly (AfterRefusal | undefined)[]) {
  const [left, next] = [[...answers], [...outcomes]];
  const subjects: string[] = [];
  const step = createRefusedCredentials({
    async refused({ subject }) {
      subjects.push(subject);
      return next.length > 1 ? next.shift() : next[0];
    },
  });
  const { server, talk } = stepped([step], {
    'tools/call': () => (left.length > 1 ? left.shift() : left[0]),
  });
  const call = async () => (await talk()).ask('tools/call', { name: 'a' });
  return { server, call, subjects };
}

describe('a server that does not accept what it is given for a caller', () => {
  it('is asked again where that was renewed, and the caller gets its answer', async () => {
    const { server, call, subjects } = start([unauthorized, done], ['renewed']);
    expect((await call()).result).toEqual(done.result);
    expect(server.requests('tools/call')).toHaveLength(2);
    expect(subjects).toEqual(['ann']);
  });

  it('is asked three times at most', async () => {
    const { server, call } = start([unauthorized], ['renewed']);
    expect((await call()).error).toEqual(unauthorized.error);
    expect(server.requests('tools/call')).toHaveLength(3);
  });

  it('is not asked again where the caller has to give something else first, which is the answer', async () => {
    const { server, call } = start([unauthorized], [asked]);
    expect((await call()).error).toEqual(asked.error);
    expect(server.requests('tools/call')).toHaveLength(1);
  });

  it('is answered as it answers where nothing of it is the caller’s own, or it failed otherwise', async () => {
    expect((await start([unauthorized], [undefined]).call()).error).toEqual(unauthorized.error);
    const failed = { error: { code: -32603, message: 'no', data: { reason: 'backend_failed' } } };
    const { call, subjects } = start([failed], ['renewed']);
    expect((await call()).error).toEqual(failed.error);
    expect(subjects).toEqual([]);
  });
});
