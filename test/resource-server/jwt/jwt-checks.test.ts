import { describe, expect, it } from 'vitest';
import {
  checkJwtClaims,
  checkJwtHeader,
  keyThumbprintOf,
} from '../../../src/resource-server/jwt/jwt-checks.ts';

const now = 1_800_000_000;
const resource = 'https://files.example.com/mcp';
const header = { typ: 'at+jwt', alg: 'ES256', kid: 'k1' };
const claims = { aud: resource, sub: 'ada', client_id: 'c', jti: 'j', iat: now, exp: now + 300, scope: 'a' };
const expected = { resource, nowSeconds: now };

describe('the header of an access token', () => {
  it.each(['at+jwt', 'AT+JWT', 'application/at+jwt'])('has the type %s (RFC 9068 section 4)', (typ) => {
    expect(checkJwtHeader({ ...header, typ })).toBeUndefined();
  });

  it.each([
    ['JWT', 'wrong_type'],
    ['logout+jwt', 'wrong_type'],
    ['dpop+jwt', 'wrong_type'],
    ['at+jwt ', 'wrong_type'],
    [undefined, 'wrong_type'],
    [['at+jwt'], 'wrong_type'],
  ])('has not the type %j (T-100)', (typ, fault) => {
    expect(checkJwtHeader({ ...header, typ })).toBe(fault);
  });

  it.each(['none', 'None', 'HS256', 'HS512', 'RS1', 'ES256K', 'dir', '', undefined, 7])(
    'has not the algorithm %j (T-098)',
    (alg) => {
      expect(checkJwtHeader({ ...header, alg })).toBe('algorithm_not_allowed');
    },
  );

  it.each([
    [{ crit: ['exp'] }, 'critical_extension'],
    [{ kid: undefined }, 'no_key_id'],
    [{ kid: '' }, 'no_key_id'],
    [{ kid: 7 }, 'no_key_id'],
    [{ kid: 'a'.repeat(1_000_000) }, 'no_key_id'],
  ])('fails with %# (T-099)', (chosen, fault) => {
    expect(checkJwtHeader({ ...header, ...chosen })).toBe(fault);
  });
});

describe('the claims of an access token', () => {
  it.each([
    ['as they should be', {}],
    ['with several audiences, ours among them', { aud: ['https://other.example', resource] }],
    ['without a scope', { scope: undefined }],
    ['expired for less than a minute', { exp: now - 59 }],
    ['issued by a clock a minute ahead', { iat: now + 60, nbf: now + 60 }],
    ['bound to a key', { cnf: { jkt: 'thumbprint' } }],
  ])('pass %s (A12-11)', (_what, chosen) => {
    expect(checkJwtClaims({ ...claims, ...chosen }, expected)).toBeUndefined();
  });

  it.each([
    ['another audience', { aud: 'https://other.example' }, 'other_audience'],
    ['our audience with a slash', { aud: `${resource}/` }, 'other_audience'],
    ['no audience', { aud: undefined }, 'other_audience'],
    ['an expiry a minute ago', { exp: now - 60 }, 'expired'],
    ['no expiry', { exp: undefined }, 'expiry_is_no_time'],
    ['an expiry that is text', { exp: String(now + 300) }, 'expiry_is_no_time'],
    ['an expiry of 1e308', { exp: 1e308 }, 'expiry_is_no_time'],
    ['a negative expiry', { exp: -1 }, 'expiry_is_no_time'],
    ['an expiry in ten years', { exp: now + 10 * 366 * 86_400 }, 'expiry_too_far'],
    ['no time of issue', { iat: undefined }, 'issue_is_no_time'],
    ['a time of issue more than a minute ahead', { iat: now + 61 }, 'issued_in_the_future'],
    ['a beginning more than a minute ahead', { nbf: now + 61 }, 'not_yet_valid'],
    ['a beginning that is text', { nbf: 'now' }, 'not_yet_valid'],
    ['no subject', { sub: undefined }, 'no_subject'],
    ['an empty subject', { sub: '' }, 'no_subject'],
    ['no client', { client_id: undefined }, 'no_client'],
    ['no id', { jti: undefined }, 'no_id'],
    ['scopes in a list', { scope: ['a'] }, 'scope_is_no_text'],
    ['a binding to a certificate', { cnf: { 'x5t#S256': 'x' } }, 'unknown_binding'],
    ['a binding to more than a key', { cnf: { jkt: 'x', 'x5t#S256': 'x' } }, 'unknown_binding'],
    ['a binding to nothing', { cnf: {} }, 'unknown_binding'],
  ])('fail with %s (A12-11, T-097)', (_what, chosen, fault) => {
    expect(checkJwtClaims({ ...claims, ...chosen }, expected)).toBe(fault);
  });
});

describe('the binding of a token', () => {
  it('is the thumbprint of one key and nothing else', () => {
    expect(keyThumbprintOf({ jkt: 'x' })).toBe('x');
    for (const cnf of [undefined, null, 'x', {}, { jkt: 7 }, { jkt: 'x', kid: 'y' }])
      expect(keyThumbprintOf(cnf)).toBeUndefined();
  });
});
