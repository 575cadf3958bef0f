import { describe, expect, it } from 'vitest';
import { Flood } from '../../../src/gateway/backends/flood.ts';

describe('what a process says unasked', () => {
  it('is passed on a thousand times in a second, then dropped until the next; the first that is dropped is told of (T-156)', () => {
    let nowMs = 5;
    const flood = new Flood(() => nowMs);
    const taken = Array.from({ length: 1500 }, () => flood.take());
    expect(taken.filter(({ passes }) => passes)).toHaveLength(1000);
    expect(taken.findIndex(({ isFirstDropped }) => isFirstDropped)).toBe(1000);
    expect(taken.filter(({ isFirstDropped }) => isFirstDropped)).toHaveLength(1);
    nowMs += 1000;
    expect(flood.take().passes).toBe(true);
  });

  it('may be more where it answers more: progress belongs to calls', () => {
    const flood = new Flood(() => 0);
    flood.take();
    for (let count = 0; count < 1000; count++) flood.answer();
    const taken = Array.from({ length: 15_000 }, () => flood.take());
    expect(taken.every(({ passes, pauseMs }) => passes && pauseMs === 0)).toBe(true);
  });

  it('is not even read beyond ten thousand, for the rest of the second', () => {
    let nowMs = 0;
    const flood = new Flood(() => nowMs);
    for (let count = 0; count < 9_998; count++) flood.take();
    nowMs = 400;
    expect(flood.take().pauseMs).toBe(0);
    expect(flood.take().pauseMs).toBe(600);
  });
});
