import { describe, expect, it } from 'vitest';
import { CollectedAnswers, errorAnswer, hasRepeatedId } from '../../../src/mcp/legacy/collected-answers.ts';
import type { Message, RequestMessage } from '../../../src/mcp/protocol.ts';

const requests = (...ids: (string | number)[]): RequestMessage[] =>
  ids.map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
const answer = (id: string | number, result: unknown = {}) => ({ jsonrpc: '2.0', id, result }) as Message;

describe('collected answers', () => {
  it('are complete when every request has one, and come in the order of the requests', () => {
    const answers = new CollectedAnswers(requests('b', 'a'));
    expect(answers.take(answer('a'))).toBe(true);
    expect(answers.isComplete).toBe(false);
    expect(answers.take(answer('b'))).toBe(true);
    expect(answers.isComplete).toBe(true);
    expect(answers.list().map(({ id }) => id)).toEqual(['b', 'a']);
  });

  it('tell the number 1 from the string "1", and names of objects from others (B7-13, T-137)', () => {
    const answers = new CollectedAnswers(requests(1, '1', '__proto__'));
    answers.take(answer('1', 'text'));
    answers.take(answer('__proto__', 'name'));
    answers.take(answer(1, 'number'));
    expect(answers.list()).toEqual([answer(1, 'number'), answer('1', 'text'), answer('__proto__', 'name')]);
  });

  it('take the first answer to a request alone, and none to another', () => {
    const answers = new CollectedAnswers(requests(1));
    expect(answers.take(answer(2))).toBe(false);
    expect(answers.take(answer(1, 'first'))).toBe(true);
    expect(answers.take(answer(1, 'second'))).toBe(false);
    expect(answers.list()).toEqual([answer(1, 'first')]);
  });

  it('miss nothing that was cancelled, and keep what was answered before', () => {
    const answers = new CollectedAnswers(requests(1, 2));
    answers.take(answer(1));
    answers.drop(1);
    answers.drop(2);
    answers.drop(3);
    expect([answers.isComplete, answers.list()]).toEqual([true, [answer(1)]]);
  });

  it('can be failed: what is missing gets the error', () => {
    const answers = new CollectedAnswers(requests(1, 2));
    answers.take(answer(2));
    const error = { code: -32001, message: 'late' };
    answers.fail(error);
    expect(answers.list()).toEqual([errorAnswer(1, error), answer(2)]);
    expect(answers.isComplete).toBe(true);
  });

  it('could not be told apart where an id is repeated', () => {
    expect(hasRepeatedId(requests(1, '1', 2))).toBe(false);
    expect(hasRepeatedId(requests(1, 2, 1))).toBe(true);
  });
});
