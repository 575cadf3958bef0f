import { describe, expect, it } from 'vitest';
import { memoizeLast, setBounded } from '../../src/collections/caches.ts';

it('keeps so many at most: the one that was put there longest ago goes, one put again is the newest', () => {
  const map = new Map<string, number>();
  for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) setBounded(map, key, index, 2);
  expect([...map]).toEqual([
    ['a', 2],
    ['c', 3],
  ]);
});

describe('a function that remembers what it gave last', () => {
  it('works out what it is asked for once, until it is asked for something else', () => {
    const asked: string[] = [];
    const lengthOf = memoizeLast((text) => {
      asked.push(text);
      return text.length;
    });
    expect(['a', 'a', 'bb', 'bb', 'a', ''].map(lengthOf)).toEqual([1, 1, 2, 2, 1, 0]);
    expect(asked).toEqual(['a', 'bb', 'a', '']);
  });
});
