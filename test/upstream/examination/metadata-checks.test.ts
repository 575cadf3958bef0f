import { describe, expect, it } from 'vitest';
import {
  checkAuthorization,
  checkKeys,
  checkMetadata,
} from '../../../src/upstream/examination/metadata-checks.ts';

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

  it('that knows offline_access leaves it needsLogin whether refresh tokens come without', () => {
    const offered = { scopes_supported: ['openid', 'email', 'offline_access'] };
    expect(oneFault(offered)).toMatchObject({ id: 'UP-REFRESH', verdict: 'unknown' });
    expect(findings(offered, { scopes: ['openid', 'offline_access'] }).map(({ verdict }) => verdict)).toEqual(
      Array(7).fill('pass'),
    );
  });

  it('that lists no scopes leaves them needsLogin', () => {
    expect(oneFault({ scopes_supported: undefined })).toMatchObject({ id: 'UP-SCOPES', verdict: 'unknown' });
  });

  it('without logout tokens is sound', () => {
    expect(findings({ backchannel_logout_supported: undefined }).at(-1)).toMatchObject({
      id: 'UP-LOGOUT',
      verdict: 'pass',
    });
  });
});

describe('the keys of an upstream', () => {
  it('pass where one at least is for signatures', () => {
    const keys = [
      { kty: 'RSA', use: 'sig', kid: 'a' },
      { kty: 'EC', kid: 'b' },
      { kty: 'RSA', use: 'enc' },
    ];
    expect(checkKeys({ keys })).toEqual({
      id: 'UP-KEYS',
      verdict: 'pass',
      saw: '2 keys verify ID tokens.',
    });
  });

  it.each([
    [undefined],
    [null],
    ['keys'],
    [{}],
    [{ keys: [] }],
    [{ keys: {} }],
    [{ keys: [{ kty: 'RSA', use: 'enc' }] }],
  ])('fail as %j', (published) => {
    expect(checkKeys(published)).toMatchObject({ verdict: 'fail', fix: expect.any(String) });
  });

  it('with private members are dangerous, and the key is not shown', () => {
    const finding = checkKeys({ keys: [{ kty: 'RSA', d: 'planted-secret' }] });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('anybody can sign') });
    expect(JSON.stringify(finding)).not.toContain('planted-secret');
  });
});

describe('authorization check', () => {
  const callbackUrl = 'https://mcp.example.com/upstream/work/callback';
  const login = { status: 302, location: 'https://login.example.com/login', text: '' };
  const judge = (change: object) => checkAuthorization({ ...login, ...change }, callbackUrl);

  describe('the answer to an authorization request without a login', () => {
    it.each([
      ['leads to a login', {}],
      ['shows a login', { status: 200, location: undefined, text: '<form>' }],
      ['says that a login is needed', { location: `${callbackUrl}?error=login_required` }],
    ])('that %s leaves the callback URL needsLogin, and names it', (_what, change) => {
      expect(judge(change)).toMatchObject({ verdict: 'unknown', saw: expect.stringContaining(callbackUrl) });
    });

    it.each([
      ['400', { status: 400, location: undefined, text: 'Invalid parameter: redirect_uri' }],
      ['an error page of Google', { location: 'https://accounts.google.com/signin/oauth/error?authError=x' }],
      ['an error page of Entra', { status: 200, location: undefined, text: 'AADSTS50011: The redirect URI' }],
      ['an error page of GitHub', { location: 'https://github.com/?error=redirect_uri_mismatch' }],
    ])('that is %s fails, and the fix names the URL to register', (_what, change) => {
      expect(judge(change)).toMatchObject({ verdict: 'fail', fix: expect.stringContaining(callbackUrl) });
    });

    it('that comes back with an error names it, where it is one of the standards', () => {
      expect(judge({ location: `${callbackUrl}?error=invalid_scope&state=s` })).toMatchObject({
        verdict: 'fail',
        saw: 'It sends the browser back with invalid_scope.',
        fix: expect.stringContaining('"scopes"'),
      });
      const odd = judge({ location: `${callbackUrl}?error=${encodeURIComponent('\u001b[31m<b>')}` });
      expect(odd).toMatchObject({ verdict: 'fail', saw: 'It sends the browser back with an error.' });
    });

    it('that is an error of its own says so', () => {
      expect(judge({ status: 502, location: undefined })).toMatchObject({
        verdict: 'fail',
        fix: expect.stringContaining('log'),
      });
    });
  });
});
