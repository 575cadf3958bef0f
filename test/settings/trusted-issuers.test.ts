import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';

const issuer = { issuer: 'https://idp.example.com', jwksUri: 'https://idp.example.com/keys' };
const workload = { clientId: 'ci', claims: { sub: 'repo:a/*' }, scopes: ['notes:read'] };

describe('the setting for trusted issuers', () => {
  it('says nothing unless the operator does, and fills in what is strict (A13-11)', () => {
    expect(parseSettings({})).toMatchObject({ trustedIssuers: [], tokenExchange: [] });
    const [only] = parseSettings({ trustedIssuers: [{ ...issuer, identityAssertions: {} }] }).trustedIssuers;
    expect(only).toEqual({
      ...issuer,
      identityAssertions: { accounts: { subjects: {}, emailDomains: [], create: false } },
      workloads: [],
    });
  });

  it.each([
    [{ ...issuer }, /identityAssertions: is needed, or workloads/],
    [{ ...issuer, jwksUri: undefined, workloads: [workload] }, /jwksUri: needs either this or jwks/],
    [{ ...issuer, jwks: { keys: [] }, workloads: [workload] }, /jwksUri: needs either this or jwks/],
    [{ ...issuer, issuer: 'http://idp.example.com', workloads: [workload] }, /issuer: must be an https URL/],
    [{ ...issuer, workloads: [{ ...workload, claims: {} }] }, /claims: must have sub at least/],
    [{ ...issuer, workloads: [{ ...workload, claims: { sub: '*' } }] }, /claims\.sub: must say something/],
    [{ ...issuer, workloads: [{ ...workload, scopes: [] }] }, /scopes/],
    [
      { ...issuer, workloads: [{ ...workload, claim: {} }] },
      /claim: there is no such setting; did you mean claims\?/,
    ],
    [{ ...issuer, identityAssertions: { accounts: { create: true } } }, /create: needs emailDomains/],
    [{ ...issuer, identityAssertions: { accounts: { emailDomains: ['@Example.com'] } } }, /must be a domain/],
  ])('refuses %j (A13-08, A13-10)', (entry, problem) => {
    expect(() => parseSettings({ trustedIssuers: [entry] })).toThrow(problem);
  });

  it('refuses one issuer twice: which rules hold would be chance', () => {
    const one = { ...issuer, workloads: [workload] };
    expect(() => parseSettings({ trustedIssuers: [one, one] })).toThrow(
      /trustedIssuers\.1\.issuer: stands here twice/,
    );
  });
});
