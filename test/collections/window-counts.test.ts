import { describe, expect, it } from 'vitest';
import { type CountWindow, WindowCounts } from '../../src/collections/window-counts.ts';

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

  it('say how long to wait without counting', () => {
    const clock = { ms: 0 };
    const counts = new WindowCounts(60_000, () => clock.ms);
    expect(counts.wait('ada', 'a', 1)).toBe(0);
    counts.take('ada', 'a', 1);
    clock.ms = 20_000;
    expect([counts.wait('ada', 'a', 1), counts.wait('ada', 'a', 2), counts.wait('bob', 'a', 1)]).toEqual([
      40_000, 0, 0,
    ]);
    clock.ms = 60_000;
    expect(counts.wait('ada', 'a', 1)).toBe(0);
  });

  it('are shared with other processes: what they counted takes room, until their window ends', () => {
    const clock = { ms: 0 };
    const shared = new Set<CountWindow>();
    const counts = new WindowCounts(
      60_000,
      () => clock.ms,
      (window) => shared.add(window),
    );
    const take = () => counts.take('ada', 'a', 10);
    for (let time = 0; time < 3; time++) take();
    counts.giveBack('ada', 'a');
    const [window] = [...shared] as [CountWindow];
    expect([shared.size, window.owner, window.key, window.lengthMs, window.unshared]).toEqual([
      ...[1, 'ada', 'a', 60_000, 2],
    ]);
    window.unshared = 0;
    take();
    window.adopt(8, 5_000);
    expect([window.count, window.unshared]).toEqual([9, 1]);
    expect([take(), take(), counts.wait('ada', 'a', 10)]).toEqual([0, 5_000, 5_000]);
    clock.ms = 5_000;
    expect([window.isOver, take(), shared.size]).toEqual([true, 0, 2]);
  });

  it('are kept to their process up to a hundredth of the limit', () => {
    let shared = 0;
    const counts = new WindowCounts(
      60_000,
      () => 0,
      () => shared++,
    );
    const sharedAt = Array.from({ length: 5 }, () => {
      counts.take('ada', 'a', 300);
      return shared;
    });
    expect(sharedAt).toEqual([0, 0, 1, 2, 3]);
  });

  it('hold no more than 100,000 owners, and the last of them', () => {
    const counts = new WindowCounts(60_000, () => 0);
    for (let at = 0; at < 100_001; at++) counts.take(`owner-${at}`, 'a', 1);
    expect([counts.take('owner-100000', 'a', 1), counts.take('owner-0', 'a', 1)]).toEqual([60_000, 0]);
  });
});
