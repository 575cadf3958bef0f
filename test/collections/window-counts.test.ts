import { describe, expect, it } from 'vitest';
import { WindowCounts } from '../../src/collections/window-counts.ts';

describe('counts in windows', () => {
  it('have room up to the limit, each key by itself, and again when the window is over', () => {
    const clock = { ms: 0 };
    const counts = new WindowCounts(60_000, () => clock.ms);
    expect([counts.take('a', 2), counts.take('a', 2), counts.take('b', 2)]).toEqual([0, 0, 0]);
    clock.ms = 15_000;
    expect(counts.take('a', 2)).toBe(45_000);
    counts.giveBack('a');
    counts.giveBack('never counted');
    expect([counts.take('a', 2), counts.take('a', 2)]).toEqual([0, 45_000]);
    clock.ms = 60_000;
    expect(counts.take('a', 2)).toBe(0);
  });

  it('do not grow without end, however many keys are made up', () => {
    const counts = new WindowCounts(60_000, () => 0);
    for (let at = 0; at <= 100_000; at++) counts.take(`key-${at}`, 1);
    expect(counts.take('key-0', 1)).toBe(0);
    expect(counts.take('key-100000', 1)).toBeGreaterThan(0);
  });
});
