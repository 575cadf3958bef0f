import { expect, test } from 'vitest';
import { formatEventId, parseEventId } from '../../../src/mcp/legacy/session-streams.ts';

test('an event id names its stream and its place, and is read back (B3-09)', () => {
  expect(parseEventId(formatEventId('own-a_B-9', 12))).toEqual({ stream: 'own-a_B-9', position: 12 });
});

test.each([
  '',
  '/',
  'a/',
  '/1',
  'a/-1',
  'a/1.5',
  'a/1/2',
  'ä/1',
  'a b/1',
  `${'x'.repeat(33)}/1`,
  '__proto__',
  'a/9999999999999999',
])('what we never wrote is no event id: %j (T-140)', (id) => {
  expect(parseEventId(id)).toBeUndefined();
});
