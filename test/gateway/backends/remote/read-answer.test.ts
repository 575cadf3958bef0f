import { describe, expect, it } from 'vitest';
import { isAnswer, isModernError, readAnswer } from '../../../../src/gateway/backends/remote/read-answer.ts';

const read = (text: string) => readAnswer(Buffer.from(text));

describe('what a server sent', () => {
  it('is a message or a batch of them (B3-13)', () => {
    const one = { jsonrpc: '2.0', id: 1, result: {} };
    expect(read(JSON.stringify(one))).toEqual([one]);
    expect(read(JSON.stringify([one, { jsonrpc: '2.0', method: 'notifications/x' }]))).toHaveLength(2);
  });

  it('may be nothing, with which Rest servers answer when their time is up (B7-09)', () => {
    expect(read('[]')).toEqual([]);
  });

  it('is named where it is none, or more than is taken', () => {
    for (const text of ['', '<p>', '{"jsonrpc":"2.0","id":1', '{"id":1,"result":{}}', '7'])
      expect(read(text)).toBe('backend_answer_unreadable');
    expect(read(`{"jsonrpc":"2.0","id":1,"result":${'['.repeat(200)}${']'.repeat(200)}}`)).toBe(
      'backend_answer_too_large',
    );
  });

  it('shows what it is', () => {
    expect(isAnswer({ jsonrpc: '2.0', id: 1 })).toBe(true);
    expect(isAnswer({ jsonrpc: '2.0', id: 1, method: 'ping' })).toBe(false);
    const error = { jsonrpc: '2.0' as const, id: 1, error: { code: -32022, message: 'x' } };
    expect(isModernError(error)).toBe(true);
    expect(isModernError({ ...error, error: { code: -32600, message: 'x' } } as never)).toBe(false);
  });
});
