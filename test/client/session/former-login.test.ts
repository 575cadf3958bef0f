import { expect, it } from 'vitest';
import { formerLogin } from '../../../src/client/session/former-login.ts';
import { testCredential } from '../support/credentials.ts';

it('what is known of a login is its scopes, whose it was and what was chosen, never a token or key', () => {
  const dpopKey = { kty: 'EC', d: 'secret' };
  expect(formerLogin(testCredential({ workload: true, dpopKey, scopes: ['read'] }))).toEqual({
    scopes: ['read'],
    machine: { grant: 'workload_identity', clientId: 'client', proof: 'assertion' },
    chosen: { dpop: true },
  });
});

it('of a login whose scopes nobody named, none are known', () => {
  for (const scopes of [[], undefined])
    expect(Object.keys(formerLogin(testCredential({ scopes })))).toEqual(['chosen']);
});

it('of no login nothing is known', () => {
  expect(formerLogin(undefined)).toEqual({});
});
