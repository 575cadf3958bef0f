import { expect, it } from 'vitest';
import { jsonLine } from '../../src/collections/json-line.ts';

it('A line of JSON holds no character that a reader may take for its end (FA-48, B1-03, T-217)', () => {
  const value = { uri: 'note://a\u2028b\u2029c\u0085d\ne' };
  const line = jsonLine(value);
  expect(line).toBe('{"uri":"note://a\\u2028b\\u2029c\\u0085d\\ne"}\n');
  expect(JSON.parse(line)).toEqual(value);
});
