import { describe, expect, it, vi } from 'vitest';
import type { CounterStore } from '../../../src/storage/counters.ts';
import { type OpenStorage, openForTest } from './subject.ts';

/** Opens the counters of a new database. */
export async function openCounters(open: OpenStorage): Promise<CounterStore> {
  const { counters } = await openForTest(open);
  if (!counters) throw new Error('this storage has no counters');
  return counters;
}

const hour = 3600;
const few = { times: 3, windowSeconds: hour };

/** What every store of counters does. */
export function describeCounters(open: OpenStorage): void {
  describe('counters', () => {
    it('count up to a limit, each key by itself, then say how long its window lasts', async () => {
      const counters = await openCounters(open);
      for (let time = 0; time < few.times; time++) expect(await counters.take('a', few)).toBe(0);
      const waitMs = await counters.take('a', few);
      expect(waitMs).toBeGreaterThan((hour - 60) * 1000);
      expect(waitMs).toBeLessThanOrEqual(hour * 1000);
      expect(await counters.take('b', few)).toBe(0);
    });

    it('let as many through as there is room for, if 200 come at once', async () => {
      const counters = await openCounters(open);
      const limit = { times: 10, windowSeconds: hour };
      const waits = await Promise.all(Array.from({ length: 200 }, () => counters.take('a', limit)));
      expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(10);
      expect(Math.min(...waits.filter((waitMs) => waitMs > 0))).toBeGreaterThan((hour - 60) * 1000);
    });

    it('do not count what they refuse: one given back makes room for one', async () => {
      const counters = await openCounters(open);
      for (let time = 0; time < 20; time++) await counters.take('a', few);
      await counters.giveBack('a');
      expect(await counters.take('a', few)).toBe(0);
      expect(await counters.take('a', few)).toBeGreaterThan(0);
    });

    it('begin a new window after the last count was given back, and never hold less than nothing', async () => {
      const counters = await openCounters(open);
      await counters.take('a', { times: 3, windowSeconds: 1 });
      for (let time = 0; time < 5; time++) await counters.giveBack('a');
      await counters.giveBack('unknown');
      for (let time = 0; time < few.times; time++) expect(await counters.take('a', few)).toBe(0);
      expect(await counters.take('a', few)).toBeGreaterThan((hour - 60) * 1000);
    });

    it('forget a key that is reset, and no other', async () => {
      const counters = await openCounters(open);
      const once = { times: 1, windowSeconds: hour };
      for (const key of ['a', 'b']) await counters.take(key, once);
      await counters.reset('a');
      expect(await counters.take('a', once)).toBe(0);
      expect(await counters.take('b', once)).toBeGreaterThan(0);
    });

    it('have room again when the window is over', async () => {
      const counters = await openCounters(open);
      const once = { times: 1, windowSeconds: 1 };
      const startedMs = performance.now();
      expect([await counters.take('a', once), (await counters.take('a', once)) > 0]).toEqual([0, true]);
      await vi.waitFor(async () => expect(await counters.take('a', once)).toBe(0), { timeout: 10_000 });
      expect(performance.now() - startedMs).toBeGreaterThan(990);
      expect(await counters.take('a', once)).toBeGreaterThan(0);
    });

    it('add the counts of several keys and return those of all', async () => {
      const counters = await openCounters(open);
      const added = (key: string, points: number) => ({ key, points, windowSeconds: hour });
      await counters.take('b', { times: 9, windowSeconds: hour });
      await counters.add([added('b', 2), added('a', 5)]);
      const states = await counters.add([added('a', 1), added('b', 1), added('c', 7)]);
      expect([...states].sort().map(([key, { points }]) => [key, points])).toEqual([
        ['a', 6],
        ['b', 4],
        ['c', 7],
      ]);
      for (const { leftMs } of states.values()) {
        expect(leftMs).toBeGreaterThan((hour - 60) * 1000);
        expect(leftMs).toBeLessThanOrEqual(hour * 1000);
      }
    });

    it('lose no count if the same keys are added from many sides at once, in any order', async () => {
      const counters = await openCounters(open);
      const keys = Array.from({ length: 50 }, (_, at) => `key ${at}`);
      const batch = keys.map((key) => ({ key, points: 1, windowSeconds: hour }));
      const sides = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? batch : [...batch].reverse()));
      await Promise.all(sides.map((side) => counters.add(side)));
      const states = await counters.add(batch);
      expect(new Set([...states.values()].map(({ points }) => points))).toEqual(new Set([21]));
      expect(states.size).toBe(50);
    });
  });
}
