import { expect, it } from 'vitest';
import { resourceChecks } from '../../../src/doctor/resource/resource-checks.ts';

it('the section judges where the document is before what it says', () => {
  const ids = resourceChecks.map(({ id }) => id);
  expect(ids.indexOf('PRM-FOUND')).toBeLessThan(ids.indexOf('PRM-RESOURCE'));
  expect(resourceChecks.every(({ section, active }) => section === 'resource' && active === undefined)).toBe(
    true,
  );
});
