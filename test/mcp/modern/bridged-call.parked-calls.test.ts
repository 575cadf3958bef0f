import { afterEach, describe, expect, it, vi } from 'vitest';
import { ParkedCalls } from '../../../src/mcp/modern/bridged-call.ts';

afterEach(() => {
  vi.useRealTimers();
});

const callOf = () => ({ cancel: vi.fn() });

describe('calls that wait for input', () => {
  it('are given back once, and only to whom they belong (T-128, T-129)', () => {
    const parked = new ParkedCalls(8);
    const call = callOf();
    const name = parked.park(call, 'ann') ?? '';
    expect(name).toMatch(/^[\w-]{22}$/);
    expect(parked.take(name, 'bob')).toBeUndefined();
    expect(parked.take(name, 'ann')).toBe(call);
    expect(parked.take(name, 'ann')).toBeUndefined();
    expect(parked.take('__proto__', 'ann')).toBeUndefined();
  });

  it('are so many of a principal, and one that goes on makes room', () => {
    const parked = new ParkedCalls(2);
    const name = parked.park(callOf(), 'ann') ?? '';
    expect(parked.park(callOf(), 'ann')).toBeDefined();
    expect(parked.park(callOf(), 'ann')).toBeUndefined();
    expect(parked.park(callOf(), 'bob')).toBeDefined();
    parked.take(name, 'ann');
    expect(parked.park(callOf(), 'ann')).toBeDefined();
  });

  it('are cancelled after ten minutes, and when all ends', () => {
    vi.useFakeTimers();
    const parked = new ParkedCalls(8);
    const [early, late] = [callOf(), callOf()];
    parked.park(early, 'ann');
    vi.advanceTimersByTime(599_999);
    parked.park(late, 'ann');
    expect(early.cancel).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(early.cancel).toHaveBeenCalledOnce();
    parked.cancelAll();
    expect(late.cancel).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('A call that waits is cancelled when the access of its caller is revoked, and watched no longer than it waits (T-203)', () => {
    const parked = new ParkedCalls(8);
    const [revoked, resumed] = [callOf(), callOf()];
    let revoke = (): void => undefined;
    const unwatch = vi.fn();
    const watch = (tell: () => void) => {
      revoke = tell;
      return unwatch;
    };
    const name = parked.park(revoked, 'ann', watch) ?? '';
    revoke();
    expect(revoked.cancel).toHaveBeenCalledOnce();
    expect(parked.take(name, 'ann')).toBeUndefined();
    expect(unwatch).toHaveBeenCalledOnce();
    parked.take(parked.park(resumed, 'ann', watch) ?? '', 'ann');
    expect(unwatch).toHaveBeenCalledTimes(2);
    revoke();
    expect(resumed.cancel).not.toHaveBeenCalled();
  });
});
