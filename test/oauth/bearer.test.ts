import { describe, expect, it } from 'vitest';
import { maxBearerLength, parseBearer } from '../../src/oauth/bearer.ts';

describe('the Authorization header of a request', () => {
  it.each([
    ['no header', []],
    ['an empty header', ['']],
    ['another scheme', ['Basic YWJj']],
    ['a scheme that begins like ours', ['BearerX abc']],
    ['a token without a scheme', ['abc']],
    ['our scheme and a colon', ['Bearer: abc']],
    ['our scheme inside another', ['Basic Bearer abc']],
  ])('holds no credentials with %s (T-095)', (_case, headers) => {
    expect(parseBearer(headers)).toEqual({ kind: 'none' });
  });

  it.each(['Bearer', 'Bearer ', 'bearer \t ', ' Bearer '])(
    'is malformed without a token: %j (T-095)',
    (header) => {
      expect(parseBearer([header])).toEqual({ kind: 'malformed', scheme: 'Bearer', reason: 'empty' });
    },
  );

  it.each(['Bearer abc', 'bearer abc', 'BEARER abc', 'Bearer   abc', 'Bearer\tabc', '  Bearer abc  '])(
    'holds the token in any case of the scheme and any space around it: %j',
    (header) => {
      expect(parseBearer([header])).toEqual({ kind: 'token', scheme: 'Bearer', token: 'abc' });
    },
  );

  it.each(['DPoP abc', 'dpop abc', 'DPOP\tabc'])(
    'says that the token comes with a proof: %j (A13-09)',
    (header) => {
      expect(parseBearer([header])).toEqual({ kind: 'token', scheme: 'DPoP', token: 'abc' });
    },
  );

  it('is held to the same rules with a proof (T-095, A13-09)', () => {
    expect(parseBearer(['DPoP'])).toEqual({ kind: 'malformed', scheme: 'DPoP', reason: 'empty' });
    expect(parseBearer(['DPoP a b'])).toEqual({
      kind: 'malformed',
      scheme: 'DPoP',
      reason: 'illegal_character',
    });
    expect(parseBearer(['DPoPX abc'])).toEqual({ kind: 'none' });
  });

  it.each(['a', 'AZaz09-._~+/', 'abc=', 'abc==', 'eyJh.eyJp.c2ln'])('takes every b64token: %s', (token) => {
    expect(parseBearer([`Bearer ${token}`])).toEqual({ kind: 'token', scheme: 'Bearer', token });
  });

  it.each([
    'a b',
    'a,b',
    'a=b',
    '=',
    '"abc"',
    'abc;',
    'ab\0c',
    'äbc',
    'abc, Bearer def',
    "a'--",
    '../../x?y',
  ])('is malformed with characters outside a b64token: %j (T-095)', (token) => {
    expect(parseBearer([`Bearer ${token}`])).toEqual({
      kind: 'malformed',
      scheme: 'Bearer',
      reason: 'illegal_character',
    });
  });

  it('takes a token of the longest length, and none that is longer', () => {
    const longest = 'a'.repeat(maxBearerLength);
    expect(parseBearer([`Bearer ${longest}`])).toEqual({ kind: 'token', scheme: 'Bearer', token: longest });
    expect(parseBearer([`Bearer ${longest}a`])).toEqual({
      kind: 'malformed',
      scheme: 'Bearer',
      reason: 'too_long',
    });
  });

  it.each([[['Bearer abc', 'Bearer abc']], [['Bearer abc', 'Basic YWJj']], [['', 'Bearer abc']]])(
    'may come once only: %j (T-101)',
    (headers) => {
      expect(parseBearer(headers)).toEqual({ kind: 'malformed', scheme: 'Bearer', reason: 'two_headers' });
    },
  );
});
