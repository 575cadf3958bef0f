import { expect, it } from 'vitest';
import { outerId } from '../../../src/mcp/reading/json.ts';
import { patience } from '../../support/patience.ts';

const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;

it.each([
  ['{"jsonrpc":"2.0","id":5,"result":{}}', 5],
  ['{"jsonrpc":"2.0", "id" : "a b" }', 'a b'],
  [`{"result":{"id":"inner","a":${deep}},"id":7}`, 7],
  [`{"result":{"id":"inner","a":[{"id":1}],"b":"\\",\\"id\\":2"},"jsonrpc":"2.0","id":7}`, 7],
  [`{"text":"a \\\\","id":-3,"result":${deep.slice(0, 6000)}`, -3],
  [`{"text":"a \\" b","id":-4,"result":${deep.slice(0, 6000)}`, -4],
  ['{"id":8,"result":"\\ud800"}', 8],
  ['{"\\u0069d":9,"result":{}}', 9],
])('the id of a message that is not read is that of its outermost object: %s', (text, id) => {
  expect(outerId(Buffer.from(` ${text}\r`).subarray(1))).toBe(id);
});

it.each([
  '',
  'hello',
  '[{"id":1}]',
  '{"id":null}',
  '{"id":1.5}',
  '{"id":{"a":1}}',
  '{"id":[1]}',
  '{"id"',
  '{"id":',
  '{"id":1',
  '{"a":{"id":1}}',
  '{"a":"b\\',
  '"id":1,',
  '}}}{"id":1}',
  `{"id":"${'x'.repeat(9000)}"}`,
  `{"text":"${'x'.repeat(9000)},\\"id\\":1}"}`,
  '{"result":{"of":{"id":1}',
  `{"text":"${'x'.repeat(9000)}","result":{"of":{"id":1}`,
  `{"text":"${'x'.repeat(9000)}","result":[{"id":1}`,
  `{"text":"${'x'.repeat(9000)}"}{"a":{"id":1}}`,
  `{"text":"${'x'.repeat(9000)},"id":1}`,
])('there is none in %s', (text) => {
  expect(outerId(Buffer.from(text))).toBeUndefined();
});

/** How long each takes when nothing comes in between, in milliseconds: the quickest of five, which they have in turn. */
function quickest(...works: (() => unknown)[]): number[] {
  const times = works.map(() => Number.POSITIVE_INFINITY);
  for (let turn = 0; turn < 5; turn++)
    for (const [at, work] of works.entries()) {
      const began = performance.now();
      work();
      times[at] = Math.min(times[at] ?? 0, performance.now() - began);
    }
  return times;
}

it('is found in a line of 16 MiB sooner than that would be read (T-135, T-156)', () => {
  const line = Buffer.from(`{"result":[${'"a",'.repeat(4_000_000)}0],"id":1}`);
  expect(outerId(line)).toBe(1);
  const [toFind, toRead = 0] = quickest(
    () => outerId(line),
    () => JSON.parse(line.toString()),
  );
  expect(toFind).toBeLessThan(toRead);
  const odd = Buffer.from(`{${' '.repeat(4000)}${'"id" : "\\\\'.repeat(1000)}`);
  expect(outerId(odd)).toBeUndefined();
  const [toFindNone] = quickest(() => outerId(odd));
  expect(toFindNone).toBeLessThan(patience(5));
});
