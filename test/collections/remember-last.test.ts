import { describe, expect, it } from 'vitest';
import { rememberLast } from '../../src/collections/remember-last.ts';

describe('a function that remembers what it gave last', () => {
  it('works out what it is asked for once, until it is asked for something else', () => {
    const asked: string[] = [];
    const lengthOf = rememberLast((text) => {
      asked.push(text);
      return text.length;
    });
    expect(['a', 'a', 'bb', 'bb', 'a', ''].map(lengthOf)).toEqual([1, 1, 2, 2, 1, 0]);
    expect(asked).toEqual(['a', 'bb', 'a', '']);
  });
});
