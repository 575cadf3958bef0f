import { describe, expect, it } from 'vitest';
import type { Member } from '../../../src/gateway/aggregate/member.ts';
import { OpenQuestions } from '../../../src/gateway/aggregate/open-questions.ts';
import type { Message } from '../../../src/mcp/protocol.ts';

const error = { code: -32800, message: 'The request was cancelled.' };
const question = { of: 7, method: 'tools/list', params: {} };

/** Two backends, and what each is told. */
function start() {
  const member = (name: string) => {
    const told: Message[] = [];
    return {
      told,
      member: { backend: { name }, say: (said: Message) => told.push(said) } as unknown as Member,
    };
  };
  return { questions: new OpenQuestions(), a: member('a'), b: member('b') };
}
const answerTo = ({ id }: Message) => ({ jsonrpc: '2.0', id, result: { tools: [] } }) as Message;

describe('what several backends are asked for one client', () => {
  it('has ids of its own, and only who was asked can answer (T-127, T-160)', async () => {
    const { questions, a, b } = start();
    const ofA = questions.ask(a.member, question, {});
    void questions.ask(b.member, question, {});
    questions.tell(b.member, { method: 'logging/setLevel', params: {} }, {});
    const [asked] = a.told as [Message];
    const ids = [...a.told, ...b.told].map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids.map((id) => questions.requestOf(id as number))).toEqual([7, 7, undefined]);
    questions.answered(b.member, { ...answerTo(asked), result: { tools: ['of another'] } } as Message);
    questions.answered(a.member, answerTo(asked));
    expect(await ofA).toEqual({ result: { tools: [] } });
    expect(questions.requestOf(asked.id as number)).toBeUndefined();
  });

  it('is waited for no longer where its request is cancelled: who was to answer is told why', async () => {
    const { questions, a, b } = start();
    const ofOther = questions.ask(a.member, { ...question, of: 8 }, {});
    const parts = [questions.ask(a.member, question, {}), questions.ask(b.member, question, {})];
    questions.giveUp(7, { error, sender: {}, reason: 'enough' });
    expect(await Promise.all(parts)).toEqual([{ error }, { error }]);
    const [other, first, cancelled] = a.told as [Message, Message, Message];
    expect(cancelled).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: first.id, reason: 'enough' },
    });
    expect(b.told).toHaveLength(2);
    questions.answered(a.member, answerTo(other));
    expect(await ofOther).toEqual({ result: { tools: [] } });
  });

  it('may be given up for one backend alone, while the others are waited for', async () => {
    const { questions, a, b } = start();
    const [ofA, ofB] = [questions.ask(a.member, question, {}), questions.ask(b.member, question, {})];
    questions.giveUp(7, { error, sender: {}, member: a.member });
    expect(await ofA).toEqual({ error });
    questions.answered(b.member, answerTo(b.told[0] as Message));
    expect(await ofB).toEqual({ result: { tools: [] } });
  });

  it('is an error where the backend ended (T-157)', async () => {
    const { questions, a } = start();
    const asked = questions.ask(a.member, question, {});
    questions.ended(a.member);
    expect(await asked).toMatchObject({ error: { data: { reason: 'backend_ended' } } });
  });
});
