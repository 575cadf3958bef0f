import Koa, { type Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { readPlainRequest } from '../../../src/authorization-server/plain-grants/plain-request.ts';

const plain = 'grant_type=refresh_token&client_id=c&refresh_token=r';

function read(form: string, headers: Record<string, string | undefined> = {}) {
  const usual = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(form.length),
  };
  const request = { method: 'POST', url: '/token', headers: { ...usual, ...headers } };
  const ctx = new Koa().createContext(request as never, {} as never) as unknown as Context;
  return readPlainRequest(ctx, new URLSearchParams(form), ['refresh_token']);
}

describe('a plain request', () => {
  it('has the parameters of its grant, and at most a resource beside them (RFC 6749 section 3.2)', () => {
    const request = read(plain);
    expect([request?.clientId, request?.resource, request?.parameter('refresh_token')]).toEqual([
      'c',
      undefined,
      'r',
    ]);
    expect(read(`${plain}&resource=https%3A%2F%2Fa.example%2Fmcp`)?.resource).toBe('https://a.example/mcp');
    const utf8 = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
    expect(read(plain, utf8)).toBeDefined();
  });

  it.each([
    ['a parameter twice', `${plain}&client_id=c`],
    ['two resources', `${plain}&resource=a&resource=b`],
    ['one in the place of another', 'grant_type=refresh_token&client_id=c&client_id=c'],
    ['one that is missing', 'grant_type=refresh_token&client_id=c'],
    ['one that is empty', 'grant_type=refresh_token&client_id=&refresh_token=r'],
    ['an empty resource', `${plain}&resource=`],
    ['a secret', `${plain}&client_secret=s`],
    ['a scope', `${plain}&scope=a`],
    ['anything else', `${plain}&x=y`],
  ])('is none with %s', (_what, form) => {
    expect(read(form)).toBeUndefined();
  });

  it.each([
    ['authorization', 'Basic Yzpz'],
    ['dpop', 'proof'],
    ['origin', 'https://page.example'],
    ['oauth-client-attestation', 'jwt'],
    ['oauth-client-attestation-pop', 'jwt'],
    ['content-type', 'application/x-www-form-urlencoded; charset=iso-8859-1'],
    ['content-type', 'application/x-www-form-urlencoded; charset=utf-8; x=y'],
    ['content-type', 'multipart/form-data; boundary=application/x-www-form-urlencoded'],
    ['content-length', undefined],
  ])('is none with the header %s: %s', (name, value) => {
    expect(read(plain, { [name]: value })).toBeUndefined();
  });
});
