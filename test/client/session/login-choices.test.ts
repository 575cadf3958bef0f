import { describe, expect, it } from 'vitest';
import { choicesOf, keptChoices } from '../../../src/client/session/login-choices.ts';
import { testCredential } from '../support/credentials.ts';

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
    expect(keptChoices({ before }, { issuer })).toEqual({ dpopKept: true, withoutResource: true });
  });

  it('only the key is kept at another one, and only where that says that it knows DPoP (A7-01)', () => {
    const other = { issuer: 'https://other.example' };
    expect(keptChoices({ before }, other)).toEqual({});
    const knowing = { ...other, dpop_signing_alg_values_supported: ['ES256'] };
    expect(keptChoices({ before }, knowing)).toEqual({ dpopKept: true });
  });

  it('what is chosen now counts', () => {
    expect(keptChoices({ before, withoutResource: false }, { issuer })).toEqual({ dpopKept: true });
    expect(keptChoices({ withoutResource: true }, { issuer })).toEqual({ withoutResource: true });
    expect(keptChoices({}, { issuer })).toEqual({});
  });
});
