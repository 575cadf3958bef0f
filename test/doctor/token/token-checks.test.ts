import { expect, it } from 'vitest';
import { tokenChecks } from '../../../src/doctor/token/token-checks.ts';

it('the section has each check once; those that only look at a token run without --active', () => {
  const ids = tokenChecks.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(tokenChecks.every(({ section }) => section === 'token')).toBe(true);
  expect(tokenChecks.filter(({ active }) => active !== true).map(({ id }) => id)).toEqual([
    'TOKEN-CLAIMS',
    'TOKEN-AUDIENCE',
    'TOKEN-CLOCK',
    'TOKEN-ACCEPTED',
    'TOKEN-SESSION',
  ]);
});
