import { describe, expect, it } from 'vitest';
import { WindowCounts } from '../../src/collections/window-counts.ts';

describe('counts in windows', () => {
  it('have room up to the limit, each key of each owner by itself, and again when the window is over', () => {
    const clock = { ms: 0 };
    const counts = new WindowCounts(60_000, () => clock.ms);
    const take = (key: string, owner = 'ada') => counts.take(owner, key, 2);
    expect([take('a'), take('a'), take('b'), take('a', 'bob')]).toEqual([0, 0, 0, 0]);
    clock.ms = 15_000;
    expect(take('a')).toBe(45_000);
    counts.giveBack('ada', 'a');
    counts.giveBack('nobody', 'a');
    expect([take('a'), take('a')]).toEqual([0, 45_000]);
    clock.ms = 60_000;
    expect(take('a')).toBe(0);
  });

  it('are forgotten by no keys that are made up: beyond 256 of an owner, all share one window (FA-32)', () => {
    const clock = { ms: 0 };
    const counts = new WindowCounts(60_000, () => clock.ms);
    const take = (owner: string, key: string) => counts.take(owner, key, 1);
    expect([take('ada', 'a'), take('bob', 'a')]).toEqual([0, 0]);
    const waits = Array.from({ length: 100_000 }, (_, at) => take('ada', `made-up-${at}`));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(256);
    expect([take('ada', 'a'), take('bob', 'a'), take('bob', 'b')]).toEqual([60_000, 60_000, 0]);
    counts.giveBack('ada', 'made-up-99999');
    expect(take('ada', 'made-up-99998')).toBe(0);
    clock.ms = 60_000;
    expect([take('ada', 'a'), take('ada', 'made-up-99999')]).toEqual([0, 0]);
  });

  it('hold no more than 100,000 owners, and the last of them', () => {
    const counts = new WindowCounts(60_000, () => 0);
    for (let at = 0; at < 100_001; at++) counts.take(`owner-${at}`, 'a', 1);
    expect([counts.take('owner-100000', 'a', 1), counts.take('owner-0', 'a', 1)]).toEqual([60_000, 0]);
  });
});
