import { afterEach, describe, expect, it, vi } from 'vitest';
import { ParkedCalls } from '../../../src/mcp/modern/parked-calls.ts';

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
});
