import { expect, test } from 'vitest';
import { GivenValues } from '../../../src/gateway/credentials/given-values.ts';

test('what was given and holds no more is told once; what nobody was given, and what still holds, never', () => {
  const given = new GivenValues();
  expect(given.hasOutdated('ada', 'first')).toBe(false);
  given.note('ada', 'first');
  expect(given.hasOutdated('ada', 'first')).toBe(false);
  expect(given.hasOutdated('grace', undefined)).toBe(false);
  expect(given.hasOutdated('ada', undefined)).toBe(true);
  expect(given.hasOutdated('ada', undefined)).toBe(false);
  given.note('ada', 'first');
  given.note('ada', 'second');
  expect(given.hasOutdated('ada', 'second')).toBe(true);
  expect(JSON.stringify([...Object.values(given)])).not.toContain('second');
});

test('of accounts beyond those that are remembered, it is told to be safe', () => {
  const given = new GivenValues(1);
  given.note('ada', 'first');
  given.note('grace', 'first');
  expect(given.hasOutdated('ada', 'first')).toBe(true);
  expect(given.hasOutdated('grace', 'first')).toBe(false);
});
