import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { HostQuestions } from '../../../../src/client/node/bridge/host-questions.ts';

function questions() {
  const written: JSONRPCMessage[] = [];
  const asked = new HostQuestions({ write: (message) => written.push(message) });
  return { asked, written };
}

describe('questions to a host', () => {
  it('each get their own answer, in any order', async () => {
    const { asked, written } = questions();
    const answers = [asked.ask('roots/list'), asked.ask('elicitation/create', { message: 'Who?' })];
    const [first, second] = written as { id: string; method: string; params?: object }[];
    expect(second).toMatchObject({ method: 'elicitation/create', params: { message: 'Who?' } });
    asked.take({ jsonrpc: '2.0', id: second?.id ?? '', result: { action: 'decline' } });
    asked.take({ jsonrpc: '2.0', id: first?.id ?? '', result: { roots: [] } });
    asked.take({ jsonrpc: '2.0', id: 'gatehouse-9', result: {} });
    expect(await Promise.all(answers)).toEqual([{ roots: [] }, { action: 'decline' }]);
  });

  it('fail as the host answers', async () => {
    const { asked } = questions();
    const answer = asked.ask('sampling/createMessage', {});
    asked.take({ jsonrpc: '2.0', id: 'gatehouse-1', error: { code: -1, message: 'the person will not' } });
    await expect(answer).rejects.toMatchObject({ code: -1, message: 'the person will not' });
  });
});
