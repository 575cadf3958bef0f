import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTurns } from '../../src/collections/turns.ts';

/** Work that notes when it begins and ends. */
function noting() {
  const log: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      log.push(`${name} in`);
      await sleep(5);
      log.push(`${name} out`);
      if (fails) throw new Error(name);
      return name;
    };
  return { log, work };
}

describe('turns', () => {
  it('lets one work for a key at a time, also after a failure', async () => {
    const takeTurn = createTurns();
    const { log, work } = noting();
    const all = await Promise.allSettled([
      takeTurn('k', work('a', true)),
      takeTurn('k', work('b')),
      takeTurn('k', work('c')),
    ]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(log).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });

  it('has no key wait for another', async () => {
    const takeTurn = createTurns();
    const { log, work } = noting();
    expect(await Promise.all([takeTurn('k', work('a')), takeTurn('l', work('b'))])).toEqual(['a', 'b']);
    expect(log.slice(0, 2)).toEqual(['a in', 'b in']);
  });

  it('begins at once under a key whose work is done', async () => {
    const takeTurn = createTurns();
    const { log, work } = noting();
    await takeTurn('k', work('a'));
    await takeTurn('k', work('b'));
    expect(log).toEqual(['a in', 'a out', 'b in', 'b out']);
  });
});
