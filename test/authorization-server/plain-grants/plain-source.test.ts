import { describe, expect, it } from 'vitest';
import { isPlainSource } from '../../../src/authorization-server/plain-grants/plain-source.ts';

const common = {
  jti: 'j',
  iat: 1,
  exp: 2,
  clientId: 'c',
  accountId: 'a',
  grantId: 'g',
  scope: 'notes:read',
  resource: 'https://a.example/mcp',
  sessionUid: 's',
  amr: ['pwd'],
  authTime: 1,
};
const token = { ...common, kind: 'RefreshToken', gty: 'authorization_code', rotations: 0, iiat: 1 };
const code = {
  ...common,
  kind: 'AuthorizationCode',
  codeChallenge: 'x',
  codeChallengeMethod: 'S256',
  redirectUri: 'http://127.0.0.1/callback',
};

describe('what a plain request redeems', () => {
  it('is a code or refresh token with nothing in it but what is known', () => {
    expect([isPlainSource(token, 'RefreshToken'), isPlainSource(code, 'AuthorizationCode')]).toEqual([
      true,
      true,
    ]);
  });

  it.each([
    ['nothing', undefined],
    ['a code', code],
    ['one that was used (T-043)', { ...token, consumed: 2 }],
    ['one that is bound to a key (RFC 9449)', { ...token, jkt: 'k' }],
    ['one that is bound to a certificate', { ...token, 'x5t#S256': 'k' }],
    ['one that ends with the session of a browser', { ...token, expiresWithSession: true }],
    ['one that asks for claims', { ...token, claims: {} }],
    ['one of another format', { ...token, format: 'jwt' }],
    ['one for several resources', { ...token, resource: ['https://a.example/mcp'] }],
    ['one without a scope', { ...token, scope: '' }],
    ['one without an end', { ...token, exp: undefined }],
    ['one of no known descent', { ...token, gty: undefined }],
  ])('is no refresh token where it is %s', (_what, found) => {
    expect(isPlainSource(found, 'RefreshToken')).toBe(false);
  });

  it('is no code where a key was named for its tokens (RFC 9449 section 10)', () => {
    expect(isPlainSource({ ...code, dpopJkt: 'k' }, 'AuthorizationCode')).toBe(false);
  });
});
