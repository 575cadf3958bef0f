import { describe, expect, it } from 'vitest';
import {
  findFault,
  identityChecks,
  readAssertion,
  workloadChecks,
} from '../../../src/authorization-server/trusted-issuers/assertion.ts';

const context = { issuer: 'https://as.example', clientId: 'desk', nowSeconds: 1_800_000_000 };
const claims = {
  iss: 'https://idp.example',
  sub: 'ada',
  aud: context.issuer,
  client_id: 'desk',
  iat: context.nowSeconds,
  exp: context.nowSeconds + 300,
  jti: 'j',
};
const good = { header: { alg: 'RS256', typ: 'oauth-id-jag+jwt' }, claims };

describe('an assertion', () => {
  it('that is as it should be has no fault', () => {
    expect(findFault(identityChecks, good, context)).toBeUndefined();
    expect(
      findFault(workloadChecks, { ...good, header: { alg: 'ES256', typ: 'JWT' } }, context),
    ).toBeUndefined();
  });

  it.each(['none', 'HS256', 'RS1', '', undefined])(
    'signed by %j is faulty before any key is looked for (A13-08)',
    (alg) => {
      const header = alg === undefined ? { typ: 'JWT' } : { alg, typ: 'JWT' };
      for (const checks of [identityChecks, workloadChecks])
        expect(findFault(checks, { header, claims }, context)).toMatch(/^must be signed with one of ES256/);
    },
  );

  it.each([undefined, '', 'x'.repeat(256), 7])('about %j is faulty (A13-08)', (sub) => {
    const about = { ...good, claims: { ...claims, sub: sub as string } };
    expect(findFault(identityChecks, about, context)).toBe('has no usable sub');
  });

  it('is taken apart, or is none', () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    expect(readAssertion(`${part(good.header)}.${part(claims)}.x`)).toEqual(good);
    for (const garbage of ['', 'a', 'a.b.c', `${part(good.header)}.${'x'.repeat(20_000)}.x`])
      expect(readAssertion(garbage)).toBeUndefined();
  });
});
