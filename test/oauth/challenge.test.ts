import { describe, expect, it } from 'vitest';
import {
  type BearerChallenge,
  type Challenge,
  findGrammarFault,
  formatBearerChallenge,
  isForNoToken,
  maxBearerLength,
  parseBearer,
  parseChallenges,
} from '../../src/oauth/challenge.ts';
import { patience } from '../support/patience.ts';

/** Challenges with plain objects, to compare with. */
function read(header: string): Challenge[] {
  return parseChallenges(header).map(({ scheme, parameters }) => ({ scheme, parameters: { ...parameters } }));
}

/** A generator of whole numbers below `limit`, the same for the same seed (mulberry32). */
function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

const url = 'https://mcp.example/.well-known/oauth-protected-resource/mcp';

const grammar: [string, string, Challenge[]][] = [
  ['nothing', '', []],
  ['commas and space alone', ' , ,\t,', []],
  ['a scheme alone', 'Bearer', [{ scheme: 'bearer', parameters: {} }]],
  ['any case of the scheme', 'bEaReR scope="a"', [{ scheme: 'bearer', parameters: { scope: 'a' } }]],
  ['any case of a name', 'Bearer SCOPE="A b"', [{ scheme: 'bearer', parameters: { scope: 'A b' } }]],
  [
    'parameters in one order',
    `Bearer error="invalid_token", resource_metadata="${url}"`,
    [{ scheme: 'bearer', parameters: { error: 'invalid_token', resource_metadata: url } }],
  ],
  [
    'parameters in the other order',
    `Bearer resource_metadata="${url}", error="invalid_token"`,
    [{ scheme: 'bearer', parameters: { error: 'invalid_token', resource_metadata: url } }],
  ],
  [
    'several challenges',
    'Basic realm="a, b", Bearer scope="c", DPoP algs="ES256"',
    [
      { scheme: 'basic', parameters: { realm: 'a, b' } },
      { scheme: 'bearer', parameters: { scope: 'c' } },
      { scheme: 'dpop', parameters: { algs: 'ES256' } },
    ],
  ],
  [
    'a scheme twice',
    'Bearer realm="a", Bearer realm="b"',
    [
      { scheme: 'bearer', parameters: { realm: 'a' } },
      { scheme: 'bearer', parameters: { realm: 'b' } },
    ],
  ],
  [
    'schemes without parameters',
    'Negotiate, Bearer',
    [
      { scheme: 'negotiate', parameters: {} },
      { scheme: 'bearer', parameters: {} },
    ],
  ],
  [
    'a token68',
    'Negotiate YII/+a==, Basic Bearer , Bearer scope="a"',
    [
      { scheme: 'negotiate', parameters: {} },
      { scheme: 'basic', parameters: {} },
      { scheme: 'bearer', parameters: { scope: 'a' } },
    ],
  ],
  ['an escaped quote', 'Bearer realm="a\\"b"', [{ scheme: 'bearer', parameters: { realm: 'a"b' } }]],
  ['an escaped backslash', 'Bearer realm="a\\\\"', [{ scheme: 'bearer', parameters: { realm: 'a\\' } }]],
  [
    'a challenge inside a quoted string',
    'Basic realm="x\\", Bearer scope=\\"evil", Bearer scope="a"',
    [
      { scheme: 'basic', parameters: { realm: 'x", Bearer scope="evil' } },
      { scheme: 'bearer', parameters: { scope: 'a' } },
    ],
  ],
  ['an empty quoted string', 'Bearer realm=""', [{ scheme: 'bearer', parameters: { realm: '' } }]],
  [
    'values without quotes',
    'Bearer error=invalid_token, scope=a',
    [{ scheme: 'bearer', parameters: { error: 'invalid_token', scope: 'a' } }],
  ],
  [
    'space around the equals sign',
    'Bearer scope = "a" ,\terror\t=\t"b"',
    [{ scheme: 'bearer', parameters: { scope: 'a', error: 'b' } }],
  ],
  ['empty list elements', ', Bearer ,, scope="a",,', [{ scheme: 'bearer', parameters: { scope: 'a' } }]],
  [
    'parameters without commas',
    'Bearer error="a" scope="b"',
    [{ scheme: 'bearer', parameters: { error: 'a', scope: 'b' } }],
  ],
  [
    'a name twice: the first counts',
    'Bearer scope="a", Scope="b"',
    [{ scheme: 'bearer', parameters: { scope: 'a' } }],
  ],
  [
    'a quoted string without an end',
    'Bearer scope="a, b',
    [{ scheme: 'bearer', parameters: { scope: 'a, b' } }],
  ],
  ['an escape without an end', 'Bearer scope="a\\', [{ scheme: 'bearer', parameters: { scope: 'a' } }]],
];

describe('challenges', () => {
  it.each(grammar)('are read with %s (A3-06)', (_case, header, challenges) => {
    expect(read(header)).toEqual(challenges);
  });

  it('have no parameter that the header does not name, and may name any', () => {
    const [bare] = parseChallenges('Bearer');
    expect(bare?.parameters.constructor).toBeUndefined();
    const [named] = parseChallenges('Bearer __proto__="a", constructor="b"');
    expect(Object.entries(named?.parameters ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it('are read from any text: nothing throws, nothing loops', () => {
    const pieces = [
      'Bearer',
      'a',
      '=',
      '"',
      '\\',
      ',',
      ' ',
      '\t',
      '/',
      ':',
      '\0',
      '\r\n',
      'ä',
      '\ud800',
      '==',
      'scope="b"',
    ];
    const below = seeded(1);
    const start = performance.now();
    for (let round = 0; round < 5_000; round++) {
      const text = Array.from({ length: below(60) }, () => pieces[below(pieces.length)]).join('');
      for (const { scheme, parameters } of parseChallenges(text)) {
        expect(scheme).toMatch(/^[!#$%&'*+\-.^_`|~0-9a-z]+$/);
        expect(Object.getPrototypeOf(parameters)).toBeNull();
      }
    }
    expect(performance.now() - start).toBeLessThan(patience(10_000));
  });

  it.each(['a ', '"', '\\', ',', ' ', '=', 'a/', 'a =', 'a="', 'a b'])(
    'are read in time linear in the header: %j repeated',
    (piece) => {
      const start = performance.now();
      parseChallenges(`Bearer ${piece.repeat(100_000)}\0`);
      expect(performance.now() - start).toBeLessThan(patience(1_000));
    },
  );
});

describe('a Bearer challenge', () => {
  it.each<[BearerChallenge, string]>([
    [{}, 'Bearer'],
    [{ resource_metadata: url }, `Bearer resource_metadata="${url}"`],
    [
      { resource_metadata: url, scope: 'a b', error_description: 'Ask again.', error: 'insufficient_scope' },
      `Bearer error="insufficient_scope", error_description="Ask again.", scope="a b", resource_metadata="${url}"`,
    ],
  ])('of %j names what it has, in a fixed order', (challenge, header) => {
    expect(formatBearerChallenge(challenge)).toBe(header);
  });

  it.each([
    ['a quote', 'a", error="none', 'a, error=none'],
    ['a backslash', 'a\\', 'a'],
    ['an escaped quote', 'a\\"b', 'ab'],
    ['a line break', 'a\r\nSet-Cookie: b=c', 'aSet-Cookie: b=c'],
    ['a NUL and a DEL', 'a\0b\x7F', 'ab'],
    ['a tab', 'a\tb', 'ab'],
    ['letters beyond ASCII', 'naïve 😀', 'nave '],
    ['separators that are lines elsewhere', 'a\u0085b\u2028c', 'abc'],
  ])('cannot be broken out of by %s (T-102)', (_case, value, kept) => {
    for (const name of ['error_description', 'scope', 'resource_metadata'] as const)
      expect(formatBearerChallenge({ [name]: value })).toBe(`Bearer ${name}="${kept}"`);
  });

  it('is read as it was written, and stays one challenge whatever its values are (A3-06, T-102)', () => {
    const below = seeded(2);
    const letters = 'ab ,="\\/:;\r\n\t\0\x7Fäß😀~!#[]{}';
    const errors = [undefined, 'invalid_request', 'invalid_token', 'insufficient_scope'] as const;
    const text = (): string =>
      Array.from({ length: below(30) }, () => letters.charAt(below(letters.length))).join('');
    for (let round = 0; round < 2_000; round++) {
      const error = errors[below(errors.length)];
      const values = { error_description: text(), scope: text(), resource_metadata: text() };
      const header = formatBearerChallenge({ ...(error && { error }), ...values });
      expect(header).toMatch(/^[\x20-\x7E]+$/);
      const kept = Object.entries(values).map(([name, value]) => [
        name,
        value.replace(/[^\x20-\x7E]|["\\]/g, ''),
      ]);
      expect(read(header)).toEqual([
        { scheme: 'bearer', parameters: { ...(error && { error }), ...Object.fromEntries(kept) } },
      ]);
    }
  });
});

describe('the answer to a request without a token', () => {
  it.each([
    ['Bearer resource_metadata="https://mcp.example/m", DPoP algs="ES256"', true],
    ['Bearer', true],
    ['Bearer error="invalid_token"', false],
    ['Bearer realm="a", DPoP error="invalid_dpop_proof"', false],
    ['', false],
  ])('%s: %s (RFC 6750 section 3.1)', (challenge, expected) => {
    expect(isForNoToken(challenge)).toBe(expected);
  });
});

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

describe('a WWW-Authenticate field', () => {
  it.each([
    'Bearer',
    'Bearer realm="a"',
    'Bearer error="invalid_token", error_description="it \\"ended\\", really", scope="a b"',
    'Bearer realm=a,scope="x" , resource_metadata = "https://a/b"',
    'DPoP algs="ES256", Bearer resource_metadata="https://a"',
    'Negotiate YII=, Bearer realm="x"',
    'Bearer, Basic realm="x"',
    ', Bearer realm="x",',
    'Bearer  realm="x"',
  ])('follows the grammar (A3-06): %s', (value) => {
    expect(findGrammarFault(value)).toBeUndefined();
  });

  it.each([
    [
      'Bearer resource_metadata=https://a/b',
      31,
      'the value of resource_metadata has a ":" and is not in quotes',
    ],
    ["Bearer realm='x'", 14, 'the value of realm is in single quotes'],
    ['Bearer realm="x', 14, 'the quotes of realm do not end'],
    ['Bearer realm="x" scope="y"', 18, 'a comma is missing'],
    ['realm="x"', 1, 'the parameter realm comes before any scheme'],
    ['Bearer scope="a", realm=', 25, 'the value of realm is missing'],
    ['Bearer realm="x", "y"', 19, '"\\"" stands where a name is expected'],
  ])('does not: %s', (value, position, what) => {
    expect(findGrammarFault(value)).toEqual({ position, what });
  });

  it('is read in linear time, whatever it is', () => {
    for (const value of [' ,'.repeat(50_000), 'a'.repeat(100_000), 'Bearer x="'.repeat(10_000)]) {
      const startedAt = performance.now();
      findGrammarFault(value);
      expect(performance.now() - startedAt).toBeLessThan(patience(2000));
    }
  });
});
