import { expect, it } from 'vitest';
import { keepNewest } from '../../src/collections/keep-newest.ts';

it('keeps so many at most: the one that was put there longest ago goes, one put again is the newest', () => {
  const map = new Map<string, number>();
  for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) keepNewest(map, key, index, 2);
  expect([...map]).toEqual([
    ['a', 2],
    ['c', 3],
  ]);
});
