import { describe, expect, it } from 'vitest';
import { checkMetadata } from '../../../src/upstream/examination/metadata-checks.ts';

const wanted = {
  scopes: ['openid', 'email'],
  clientAuthentication: 'client_secret_basic',
  logoutUrl: 'https://mcp.example.com/upstream/company/backchannel-logout',
};

const metadata = {
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['client_secret_basic'],
  scopes_supported: ['openid', 'email'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  revocation_endpoint: 'https://login.example.com/revoke',
  backchannel_logout_supported: true,
};

const findings = (change: object, want: Partial<typeof wanted> = {}) =>
  checkMetadata({ ...metadata, ...change }, { ...wanted, ...want });

/** The finding of one change, which is the only one that is not sound. */
function oneFault(change: object, want?: Partial<typeof wanted>) {
  const faults = findings(change, want).filter(({ verdict }) => verdict !== 'pass');
  expect(faults, JSON.stringify(faults)).toHaveLength(1);
  return faults[0];
}

describe('the metadata of an upstream', () => {
  it('passes every check where it fits the settings, and names the URL for logout tokens', () => {
    expect(findings({}).map(({ verdict }) => verdict)).toEqual(Array(7).fill('pass'));
    expect(findings({}).find(({ id }) => id === 'UP-LOGOUT')?.saw).toContain(wanted.logoutUrl);
  });

  it('fails where it knows no codes, or not the way the client authenticates', () => {
    expect(oneFault({ response_types_supported: ['id_token'] })).toMatchObject({
      id: 'UP-CODE-FLOW',
      verdict: 'fail',
    });
    expect(oneFault({}, { clientAuthentication: 'private_key_jwt' })).toMatchObject({
      id: 'UP-CLIENT-AUTH',
      verdict: 'fail',
      fix: 'Give clientSecretFile in the place of a key.',
    });
    expect(oneFault({ token_endpoint_auth_methods_supported: ['private_key_jwt'] })).toMatchObject({
      id: 'UP-CLIENT-AUTH',
      fix: 'Give clientKeyFile in the place of a secret.',
    });
  });

  it('is doubtful where openid is known there, and not asked for', () => {
    expect(oneFault({}, { scopes: ['email'] })).toMatchObject({
      id: 'UP-SCOPES',
      verdict: 'warn',
      fix: expect.stringContaining('openid'),
    });
    const plain = findings({ scopes_supported: ['email'] }, { scopes: ['email'] });
    expect(plain.find(({ id }) => id === 'UP-SCOPES')?.verdict).toBe('pass');
  });

  it('that names no ways to authenticate means client_secret_basic', () => {
    expect(findings({ token_endpoint_auth_methods_supported: undefined })).toEqual(findings({}));
  });

  it.each([
    ['UP-PKCE', { code_challenge_methods_supported: undefined }],
    ['UP-PKCE', { code_challenge_methods_supported: ['plain'] }],
    ['UP-SCOPES', { scopes_supported: ['openid'] }],
    ['UP-REFRESH', { grant_types_supported: ['authorization_code'] }],
    ['UP-REVOCATION', { revocation_endpoint: undefined }],
  ])('is doubtful by %s with %j, and the fix says what may be done', (id, change) => {
    expect(oneFault(change)).toMatchObject({ id, verdict: 'warn', fix: expect.stringMatching(/\w/) });
  });

  it('that knows offline_access leaves it untold whether refresh tokens come without', () => {
    const offered = { scopes_supported: ['openid', 'email', 'offline_access'] };
    expect(oneFault(offered)).toMatchObject({ id: 'UP-REFRESH', verdict: 'unknown' });
    expect(findings(offered, { scopes: ['openid', 'offline_access'] }).map(({ verdict }) => verdict)).toEqual(
      Array(7).fill('pass'),
    );
  });

  it('that lists no scopes leaves them untold', () => {
    expect(oneFault({ scopes_supported: undefined })).toMatchObject({ id: 'UP-SCOPES', verdict: 'unknown' });
  });

  it('without logout tokens is sound', () => {
    expect(findings({ backchannel_logout_supported: undefined }).at(-1)).toMatchObject({
      id: 'UP-LOGOUT',
      verdict: 'pass',
    });
  });
});
