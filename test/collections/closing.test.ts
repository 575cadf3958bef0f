import { describe, expect, it } from 'vitest';
import { allEnded, endInOrder } from '../../src/collections/closing.ts';

describe('parts that end in order', () => {
  it('all end, and the first error is thrown after the last', async () => {
    const ended: string[] = [];
    const end = (name: string, fault?: string) => async () => {
      await Promise.resolve();
      ended.push(name);
      if (fault) throw new Error(fault);
    };
    const throwing = (): never => {
      throw new Error('at once');
    };
    const ending = endInOrder([end('a'), end('b', 'first'), throwing, end('c', 'last'), end('d')]);
    await expect(ending).rejects.toThrow('first');
    expect(ended).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('parts that end at once', () => {
  it('are all awaited, also if one fails', async () => {
    let isLate = false;
    const late = new Promise<void>((resolve) =>
      setTimeout(() => {
        isLate = true;
        resolve();
      }, 20),
    );
    await expect(allEnded([Promise.reject(new Error('first')), late, undefined])).rejects.toThrow('first');
    expect(isLate).toBe(true);
  });
});
