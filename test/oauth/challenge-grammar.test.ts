import { describe, expect, it } from 'vitest';
import { findGrammarFault } from '../../src/oauth/challenge-grammar.ts';
import { patience } from '../support/patience.ts';

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
