import { expect, it } from 'vitest';
import { reachChecks } from '../../../src/doctor/reach/reach-checks.ts';

it('the section begins with the URL and ends with what pages may do', () => {
  const ids = reachChecks.map(({ id }) => id);
  expect(ids[0]).toBe('REACH-URL');
  expect(ids.at(-1)).toBe('CORS-CHALLENGE');
  expect(reachChecks.every(({ section, active }) => section === 'reach' && active === undefined)).toBe(true);
});
