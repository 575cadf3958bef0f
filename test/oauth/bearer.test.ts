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
      expect(parseBearer([header])).toEqual({ kind: 'malformed', reason: 'empty' });
    },
  );

  it.each(['Bearer abc', 'bearer abc', 'BEARER abc', 'Bearer   abc', 'Bearer\tabc', '  Bearer abc  '])(
    'holds the token in any case of the scheme and any space around it: %j',
    (header) => {
      expect(parseBearer([header])).toEqual({ kind: 'token', token: 'abc' });
    },
  );

  it.each(['a', 'AZaz09-._~+/', 'abc=', 'abc==', 'eyJh.eyJp.c2ln'])('takes every b64token: %s', (token) => {
    expect(parseBearer([`Bearer ${token}`])).toEqual({ kind: 'token', token });
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
    expect(parseBearer([`Bearer ${token}`])).toEqual({ kind: 'malformed', reason: 'illegal_character' });
  });

  it('takes a token of the longest length, and none that is longer', () => {
    const longest = 'a'.repeat(maxBearerLength);
    expect(parseBearer([`Bearer ${longest}`])).toEqual({ kind: 'token', token: longest });
    expect(parseBearer([`Bearer ${longest}a`])).toEqual({ kind: 'malformed', reason: 'too_long' });
  });

  it.each([[['Bearer abc', 'Bearer abc']], [['Bearer abc', 'Basic YWJj']], [['', 'Bearer abc']]])(
    'may come once only: %j (T-101)',
    (headers) => {
      expect(parseBearer(headers)).toEqual({ kind: 'malformed', reason: 'two_headers' });
    },
  );
});
