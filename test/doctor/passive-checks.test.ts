import { expect, it } from 'vitest';
import { passiveChecks } from '../../src/doctor/passive-checks.ts';

it('nothing is written at a server that is only looked at', () => {
  expect(passiveChecks.filter(({ active }) => active)).toEqual([]);
  expect(passiveChecks.at(-1)?.id).toBe('CHALLENGE-ON-SUCCESS');
});
