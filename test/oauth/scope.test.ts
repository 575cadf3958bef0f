import { describe, expect, it } from 'vitest';
import { formatScope, isScopeToken, missingScopes, parseScope, scopeUnion } from '../../src/oauth/scope.ts';

describe('a scope token', () => {
  it.each(['a', 'notes:read', 'https://example.com/notes.read', '!', '#', '[', ']', '~'])(
    'may be %s',
    (scope) => {
      expect(isScopeToken(scope)).toBe(true);
    },
  );

  it.each(['', ' ', 'a b', 'a"', 'a\\', 'a\n', '\ta', 'a\x7F', 'ä', 'a\0'])('may not be %j', (scope) => {
    expect(isScopeToken(scope)).toBe(false);
  });
});

describe('a scope parameter', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['   ', []],
    ['a', ['a']],
    ['b a', ['b', 'a']],
    ['  a   b ', ['a', 'b']],
    ['a b a', ['a', 'b']],
    ['a A', ['a', 'A']],
    ['a\tb', ['a\tb']],
  ])('%j gives each scope once, in order: %j', (value, scopes) => {
    expect(parseScope(value)).toEqual(scopes);
  });

  it('is written with each scope once, one space between', () => {
    expect(formatScope([])).toBe('');
    expect(formatScope(['b', 'a', 'b'])).toBe('b a');
    expect(formatScope(new Set(['a', 'b']))).toBe('a b');
  });

  it('is read as it was written', () => {
    const scopes = ['notes:read', 'notes:write', 'profile'];
    expect(parseScope(formatScope(scopes))).toEqual(scopes);
  });
});

describe('missing scopes', () => {
  it.each([
    [['a', 'b'], ['b'], []],
    [['a'], ['c', 'a', 'b'], ['c', 'b']],
    [[], ['a'], ['a']],
    [['a'], [], []],
    [['A', 'a:b'], ['a'], ['a']],
  ])('held %j, needed %j, are %j: compared exactly, in the order of need', (granted, needed, missing) => {
    expect(missingScopes(granted, needed)).toEqual(missing);
  });
});

describe('the union of scopes', () => {
  it('keeps what is held and adds what is new, each once (A8-07)', () => {
    expect(scopeUnion(['b', 'a'], ['a', 'c'])).toEqual(['b', 'a', 'c']);
    expect(scopeUnion(['a'], [], new Set(['a', 'd']))).toEqual(['a', 'd']);
    expect(scopeUnion()).toEqual([]);
  });
});
