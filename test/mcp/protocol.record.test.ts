import { expect, it } from 'vitest';
import { isRecord } from '../../src/mcp/protocol.ts';

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ['{}', false],
  [1, false],
])('of JSON values %j is an object: %s', (value, is) => {
  expect(isRecord(value)).toBe(is);
});
