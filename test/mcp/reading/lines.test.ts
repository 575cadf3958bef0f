import { describe, expect, it } from 'vitest';
import { readLine, readLineOfServer } from '../../../src/mcp/reading/lines.ts';

const read = (text: string) => readLine(Buffer.from(text), false);

describe('a line', () => {
  it('is a message or a batch, with CR at its end or not (B1-01, B1-03)', () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (const end of ['', '\r', ' '])
      expect(read(`${JSON.stringify(ping)}${end}`)).toEqual({
        isBatch: false,
        list: [ping],
        requests: [ping],
        operations: [],
      });
    expect(read(JSON.stringify([ping]))).toMatchObject({ isBatch: true, list: [ping] });
  });

  it.each(['', '\r', ' \t\r'])('that is blank is nothing: %j', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it.each([
    ['garbage', 'not_json'],
    ['{"jsonrpc":', 'not_json'],
    ['[]', 'empty_batch'],
    ['7', 'not_a_message'],
    [`${'['.repeat(101)}${']'.repeat(101)}`, 'nested_too_deep'],
    [`${'['.repeat(201)}`, 'not_json'],
  ])('that is %s is refused as %s (T-150)', (text, reason) => {
    expect(read(text)).toEqual({ reason });
  });

  it('that is no UTF-8 is refused (B1-01, T-138)', () => {
    expect(readLine(Uint8Array.from([0x22, 0xff, 0x22]), false)).toEqual({ reason: 'not_json' });
  });

  it('that is no message is refused with its id where it has one', () => {
    expect(read('{"id":5,"method":"ping"}')).toEqual({ reason: 'not_a_message', id: 5 });
    expect(read('{"jsonrpc":"2.0","id":"a","method":"x","params":[]}')).toEqual({
      reason: 'not_a_message',
      id: 'a',
    });
    expect(read('{"id":1.5}')).toEqual({ reason: 'not_a_message' });
  });

  it.each([
    ['{"id":5,"level":"info","msg":"asked"}', { reason: 'not_a_message' }],
    ['{"id":5,"msg":"\0"}', { reason: 'not_json' }],
    ['{"jsonrpc":"2.0","id":5}', { reason: 'not_a_message', id: 5 }],
    ['{"jsonrpc":"2.0","id":5,"result":"\0"}', { reason: 'not_json', id: 5 }],
    ['{"jsonrpc":"2.0","id":5,"result":{}}', { list: [{ id: 5 }] }],
    [' ', undefined],
  ])('of a server that does not say that it is JSON-RPC answers nobody: %s (T-156)', (text, expected) => {
    const read = readLineOfServer(Buffer.from(` ${text}`).subarray(1));
    if (expected && 'reason' in expected) expect(read).toEqual(expected);
    else if (expected) expect(read).toMatchObject(expected);
    else expect(read).toBeUndefined();
  });

  it('that is not read is refused with its id where that can be made out (T-156)', () => {
    const nested = `${'['.repeat(200)}${']'.repeat(200)}`;
    expect(read(`{"jsonrpc":"2.0","id":5,"result":${nested}}`)).toEqual({ reason: 'nested_too_deep', id: 5 });
    const many = JSON.stringify({ jsonrpc: '2.0', result: Array(60_000).fill(0), id: 6 });
    expect(read(many)).toEqual({ reason: 'too_many_values', id: 6 });
    expect(read('{"jsonrpc":"2.0","id":7,"result":"\0"}')).toEqual({ reason: 'not_json', id: 7 });
  });
});
