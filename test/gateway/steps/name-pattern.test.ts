import { describe, expect, it } from 'vitest';
import { namePatterns } from '../../../src/gateway/steps/name-pattern.ts';
import { patience } from '../../support/patience.ts';

describe('a pattern of names', () => {
  it.each([
    ['read', 'read', true],
    ['read', 'reads', false],
    ['read_*', 'read_file', true],
    ['read_*', 'unread_file', false],
    ['*_file', 'read_file', true],
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*bc*c', 'abc', false],
    ['a.c', 'abc', false],
    ['A*', 'abc', false],
    ['notes://*/public', 'notes://ann/public', true],
  ])('%s: %s is %s', (pattern, name, fits) => {
    expect(namePatterns([pattern])(name)).toBe(fits);
  });

  it('fits where one of several does; none fits nothing', () => {
    expect(namePatterns(['a', 'b'])('b')).toBe(true);
    expect(namePatterns([])('b')).toBe(false);
  });

  it('takes no time for names made to take it (T-147)', () => {
    const startedMs = performance.now();
    namePatterns(['*a'.repeat(50).concat('b')])('a'.repeat(8192));
    expect(performance.now() - startedMs).toBeLessThan(patience(100));
  });
});
