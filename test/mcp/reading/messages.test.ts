import { describe, expect, it } from 'vitest';
import type { RequestMessage } from '../../../src/mcp/protocol.ts';
import { messagesOf, readMessages } from '../../../src/mcp/reading/messages.ts';

const call = (id: number, name: unknown) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });

describe('the messages of a body', () => {
  it('are read with what all of them use together', () => {
    expect(
      readMessages([call(1, 'a'), { jsonrpc: '2.0', id: 2, method: 'ping' }, call(3, 'b')]),
    ).toMatchObject({
      isBatch: true,
      operations: [{ name: 'a' }, { name: 'b' }],
    });
  });

  it('are refused by the id of the request if it is alone (FA-01, T-200)', () => {
    expect(readMessages(call(7, ['a']))).toEqual({ reason: 'params_not_valid', id: 7 });
    expect(readMessages([call(7, 'a'), call(8, ['a'])])).toEqual({ reason: 'params_not_valid' });
  });

  it('are refused as a frame before anything in them is read', () => {
    expect(readMessages({ ...call(1, ['a']), jsonrpc: '1.0' })).toEqual({ reason: 'not_a_message' });
  });

  it('of our own making are never taken unread', () => {
    expect(messagesOf(call(1, 'a') as RequestMessage).operations).toHaveLength(1);
    expect(() => messagesOf(call(1, ['a']) as RequestMessage)).toThrow(TypeError);
  });
});
