import { describe, expect, it } from 'vitest';
import { checkAuthorization } from '../../../src/upstream/examination/authorization-check.ts';

const callbackUrl = 'https://mcp.example.com/upstream/work/callback';
const login = { status: 302, location: 'https://login.example.com/login', text: '' };
const judge = (change: object) => checkAuthorization({ ...login, ...change }, callbackUrl);

describe('the answer to an authorization request without a login', () => {
  it.each([
    ['leads to a login', {}],
    ['shows a login', { status: 200, location: undefined, text: '<form>' }],
    ['says that a login is needed', { location: `${callbackUrl}?error=login_required` }],
  ])('that %s leaves the callback URL untold, and names it', (_what, change) => {
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
