import { describe, expect, it } from 'vitest';
import {
  choicesOf,
  formerLogin,
  inheritedChoices,
  machineOf,
} from '../../../src/client/session/former-login.ts';
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

describe('login choices', () => {
  it.each([
    ['with a key', { dpopKey: { kty: 'EC', d: 'secret' } }, { dpop: true }],
    ['without a resource', { withoutResource: true }, { withoutResource: true }],
    ['as usual', {}, {}],
  ] as const)('a login %s tells what was chosen at it, never the key', (_, held, chosen) => {
    expect(choicesOf(testCredential(held))).toEqual(chosen);
  });

  describe('of what was chosen at the login before', () => {
    const issuer = 'https://as.example';
    const before = { issuer, chosen: { dpop: true, withoutResource: true } } as const;

    it('all is kept at the same authorization server, also where it does not say that it knows DPoP', () => {
      expect(inheritedChoices({ before }, { issuer })).toEqual({ dpopKept: true, withoutResource: true });
    });

    it('only the key is kept at another one, and only where that says that it knows DPoP (A7-01)', () => {
      const other = { issuer: 'https://other.example' };
      expect(inheritedChoices({ before }, other)).toEqual({});
      const knowing = { ...other, dpop_signing_alg_values_supported: ['ES256'] };
      expect(inheritedChoices({ before }, knowing)).toEqual({ dpopKept: true });
    });

    it('what is chosen now counts', () => {
      expect(inheritedChoices({ before, withoutResource: false }, { issuer })).toEqual({ dpopKept: true });
      expect(inheritedChoices({ withoutResource: true }, { issuer })).toEqual({ withoutResource: true });
      expect(inheritedChoices({}, { issuer })).toEqual({});
    });
  });
});

describe('machine login', () => {
  const privateKey = { kty: 'OKP', alg: 'EdDSA' };

  it.each([
    ['a client with a secret', { grant: { type: 'client_credentials', clientSecret: 's' } }, 'secret'],
    ['a client with a key', { grant: { type: 'client_credentials', privateKey } }, 'key'],
    ['a workload', { workload: true }, 'assertion'],
  ] as const)(
    'a login of %s is a machine’s, and says what it authenticated by, never with what',
    (_, held, proof) => {
      const grant = 'workload' in held ? 'workload_identity' : 'client_credentials';
      expect(machineOf(testCredential({ clientId: 'ci', ...held }))).toEqual({
        grant,
        clientId: 'ci',
        proof,
      });
    },
  );

  it('a login of a person, or none, is no machine’s', () => {
    expect(machineOf(testCredential())).toBeUndefined();
  });
});
