import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../../src/authorization-server/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const create = () => createLimiter({ times: 2, windowSeconds: 10 });

describe('a limiter', () => {
  it('counts up to its limit, then says how long to wait, each key by itself', async () => {
    const limiter = create();
    expect([await limiter.take('a'), await limiter.take('a')]).toEqual([0, 0]);
    await vi.advanceTimersByTimeAsync(4000);
    expect([await limiter.take('a'), await limiter.wait('a')]).toEqual([6, 6]);
    expect([await limiter.take('b'), await limiter.wait('b')]).toEqual([0, 0]);
    await vi.advanceTimersByTimeAsync(6000);
    expect(await limiter.take('a')).toBe(0);
  });

  it('does not count what it refuses: one given back makes room for one', async () => {
    const limiter = create();
    for (let time = 0; time < 20; time++) await limiter.take('a');
    await limiter.giveBack('a');
    expect(await limiter.take('a')).toBe(0);
    expect(await limiter.take('a')).toBeGreaterThan(0);
  });

  it('gives no more than its limit after one is given back that a former window counted', async () => {
    const limiter = create();
    await limiter.take('a');
    await vi.advanceTimersByTimeAsync(11_000);
    await limiter.giveBack('a');
    expect([await limiter.take('a'), await limiter.take('a')]).toEqual([0, 0]);
    expect(await limiter.take('a')).toBeGreaterThan(0);
  });

  it('is idle until it counts, and again a whole window after it counted last, whatever of', async () => {
    const limiter = create();
    expect([limiter.isIdle(), await limiter.wait('a')]).toEqual([true, 0]);
    await limiter.take('a');
    await vi.advanceTimersByTimeAsync(6000);
    await limiter.take('b');
    await vi.advanceTimersByTimeAsync(6000);
    expect(limiter.isIdle()).toBe(false);
    await vi.advanceTimersByTimeAsync(4001);
    expect(limiter.isIdle()).toBe(true);
  });

  it('keeps no trace of a key whose counts were all given back, or that was reset, nor after the window', async () => {
    const limiter = create();
    for (const key of ['a', 'b', 'c']) await limiter.take(key);
    expect(vi.getTimerCount()).toBe(3);
    await limiter.giveBack('a');
    await limiter.reset('b');
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
