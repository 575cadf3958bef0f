import { expect, it } from 'vitest';
import { cacheSettings, policySettings } from '../../src/settings/policy.ts';

it('what may be used of a backend and what is kept of it have names that are known', () => {
  expect(policySettings.safeParse({ alow: [] }).success).toBe(false);
  expect(cacheSettings.safeParse({ kep: true }).success).toBe(false);
});
