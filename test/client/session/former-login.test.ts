import { expect, it } from 'vitest';
import { formerLogin } from '../../../src/client/session/former-login.ts';
import { testCredential } from '../support/credentials.ts';

it('what is known of a login is its issuer, whose it was and what was chosen, never a token or key', () => {
  const dpopKey = { kty: 'EC', d: 'secret' };
  expect(formerLogin(testCredential({ workload: true, dpopKey, issuer: 'https://as.example' }))).toEqual({
    issuer: 'https://as.example',
    machine: { grant: 'workload_identity', clientId: 'client', proof: 'assertion' },
    chosen: { dpop: true },
  });
});

it('a login of a person is no machine’s', () => {
  expect(Object.keys(formerLogin(testCredential()))).toEqual(['issuer', 'chosen']);
});

it('of no login nothing is known', () => {
  expect(formerLogin(undefined)).toEqual({});
});
