import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readMessageLines } from '../../../src/client/node/command-transport.ts';
import { unmarkedJson } from '../../../src/collections/exact-json.ts';

async function read(text: string, options: { markedNumbers?: 'all'; maxLineBytes?: number } = {}) {
  const from = new PassThrough();
  const seen: string[] = [];
  readMessageLines(from, {
    ...options,
    heard: (message) => seen.push(unmarkedJson(JSON.stringify(message))),
    notMessage: () => seen.push('no message'),
    tooLong: () => seen.push('too long'),
  });
  from.write(text);
  await turn();
  return seen;
}

const ping = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;

it('Lines are read as messages, and an array as each of its messages (FA-30, B1-04)', async () => {
  expect(await read(`${ping('1')}\n\n[${ping('2')},${ping('"3"')}]\n`)).toEqual([
    ping('1'),
    ping('2'),
    ping('"3"'),
  ]);
});

it('A line that is no message or too long is told, and the next one is read', async () => {
  const text = `{}\n[${ping('1')},7]\n${ping(`"${'x'.repeat(90)}"`)}\n${ping('2')}\n`;
  expect(await read(text, { maxLineBytes: 80 })).toEqual(['no message', 'no message', 'too long', ping('2')]);
});

it('An id beyond 2^53 is read as it was written if numbers are marked (FA-40)', async () => {
  const text = ping('12345678901234567890');
  expect(await read(`${text}\n`, { markedNumbers: 'all' })).toEqual([text]);
  expect(await read(`${text}\n`)).not.toEqual([text]);
});
