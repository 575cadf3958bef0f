import { describe, expect, it } from 'vitest';
import { allEnded, endedWithin, endInOrder, Idleness } from '../../src/collections/closing.ts';

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

describe('a wait with a bound', () => {
  it('ends with what it waits for, or after its time', async () => {
    const never = new Promise<void>(() => undefined);
    await endedWithin(60_000, Promise.resolve());
    await endedWithin(10, never);
    await expect(endedWithin(60_000, Promise.reject(new Error('ended badly')))).rejects.toThrow(
      'ended badly',
    );
  });

  it('for nothing to run ends when the last has ended, at once without patience, or after its time', async () => {
    let running = 2;
    const idleness = new Idleness(() => running === 0);
    await idleness.wait(0);
    await idleness.wait(10);
    let isOver = false;
    const waiting = idleness.wait(60_000).then(() => {
      isOver = true;
    });
    running = 1;
    idleness.ended();
    await Promise.resolve();
    expect(isOver).toBe(false);
    running = 0;
    idleness.ended();
    await waiting;
    await idleness.wait(60_000);
  });
});
