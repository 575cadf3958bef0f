import { describe, expect, it } from 'vitest';
import {
  checkExchangeRules,
  checkTrustedIssuers,
} from '../../../src/authorization-server/trusted-issuers/check-issuers.ts';
import type { TrustedIssuer } from '../../../src/authorization-server/trusted-issuers/trusted-issuer.ts';

const known: { resource: string; scopes: Record<string, string> }[] = [
  { resource: 'https://a.example/mcp', scopes: { read: 'Read' } },
  { resource: 'https://b.example', scopes: { write: 'Write' } },
];
const issuer: TrustedIssuer = {
  issuer: 'https://idp.example',
  jwksUri: 'https://idp.example/keys',
  identityAssertions: {
    accounts: { subjects: {}, emailDomains: [], create: false },
    scopes: ['read'],
    resources: ['https://a.example/mcp'],
  },
  workloads: [{ clientId: 'ci', claims: { sub: 'x' }, scopes: ['write'] }],
};

describe('what is set about issuers and exchanges', () => {
  it('may name what there is', () => {
    expect(checkTrustedIssuers([issuer], known)).toEqual([]);
    expect(
      checkExchangeRules(
        [{ clientId: 'c', from: 'https://a.example/mcp', to: ['https://b.example'] }],
        known,
      ),
    ).toEqual([]);
  });

  it('is refused with every problem where it names what there is not', () => {
    const wrong: TrustedIssuer = {
      ...issuer,
      jwksUri: 'http://idp.example/keys',
      identityAssertions: { accounts: { subjects: {}, emailDomains: [], create: false }, scopes: ['burn'] },
      workloads: [
        { clientId: 'ci', claims: { sub: 'x' }, scopes: ['read'], resources: ['https://c.example'] },
      ],
    };
    expect(checkTrustedIssuers([issuer, wrong], known)).toEqual([
      'trustedIssuers.1.jwksUri: must be an https URL without a user name or fragment',
      'trustedIssuers.1.identityAssertions.scopes: there is no burn here; there are read, write',
      'trustedIssuers.1.workloads.0.resources: there is no https://c.example here; there are https://a.example/mcp, https://b.example',
    ]);
    const secret = { ...issuer, jwksUri: undefined, jwks: { keys: [{ kty: 'oct', k: 'x' }] } };
    expect(checkTrustedIssuers([secret], known)).toEqual(['trustedIssuers.0.jwks: holds a private key']);
    expect(
      checkExchangeRules([{ clientId: 'c', from: 'https://x.example', to: ['https://b.example'] }], known),
    ).toEqual([
      'tokenExchange.0.resources: there is no https://x.example here; there are https://a.example/mcp, https://b.example',
    ]);
  });
});
