import { expect, it } from 'vitest';
import { registrationChecks } from '../../../src/doctor/registration/registration-checks.ts';

it('the section has each check once, all of them marked that register or ask the authorization endpoint with a client', () => {
  const ids = registrationChecks.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(registrationChecks.every(({ section }) => section === 'registration')).toBe(true);
  expect(registrationChecks.filter(({ active }) => !active).map(({ id }) => id)).toEqual([
    'REG-ALIVE',
    'REG-CIMD-DOCUMENT',
  ]);
});
