import { describe, expect, it } from 'vitest';
import { OutputRateLimiter } from '../../../src/gateway/backends/output-rate-limiter.ts';

describe('what a process says unasked', () => {
  it('is passed on a thousand times in a second, then dropped until the next; the first that is dropped is told of (T-156)', () => {
    let nowMs = 5;
    const limiter = new OutputRateLimiter(() => nowMs);
    const taken = Array.from({ length: 1500 }, () => limiter.take());
    expect(taken.filter(({ passes }) => passes)).toHaveLength(1000);
    expect(taken.findIndex(({ isFirstDropped }) => isFirstDropped)).toBe(1000);
    expect(taken.filter(({ isFirstDropped }) => isFirstDropped)).toHaveLength(1);
    nowMs += 1000;
    expect(limiter.take().passes).toBe(true);
  });

  it('may be more where it answers more: progress belongs to calls', () => {
    const limiter = new OutputRateLimiter(() => 0);
    limiter.take();
    for (let count = 0; count < 1000; count++) limiter.answer();
    const taken = Array.from({ length: 15_000 }, () => limiter.take());
    expect(taken.every(({ passes, pauseMs }) => passes && pauseMs === 0)).toBe(true);
  });

  it('is not even read beyond ten thousand, for the rest of the second', () => {
    let nowMs = 0;
    const limiter = new OutputRateLimiter(() => nowMs);
    for (let count = 0; count < 9_998; count++) limiter.take();
    nowMs = 400;
    expect(limiter.take().pauseMs).toBe(0);
    expect(limiter.take().pauseMs).toBe(600);
  });
});
