import { expect, it } from 'vitest';
import { issuerChecks } from '../../../src/doctor/issuer/issuer-checks.ts';

it('the section judges whose the metadata is before what it says', () => {
  const ids = issuerChecks.map(({ id }) => id);
  expect(ids.indexOf('AS-FOUND')).toBeLessThan(ids.indexOf('AS-PKCE'));
  expect(issuerChecks.every(({ section, active }) => section === 'issuer' && active === undefined)).toBe(
    true,
  );
});
