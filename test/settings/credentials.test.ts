import { expect, it } from 'vitest';
import { credentialSettings } from '../../src/settings/credentials.ts';

it('what a backend is given of a person has names that are known', () => {
  expect(credentialSettings.safeParse({ tokn: 'a' }).success).toBe(false);
});
