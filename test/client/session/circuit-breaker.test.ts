import { describe, expect, it } from 'vitest';
import { createCircuitBreaker } from '../../../src/client/session/circuit-breaker.ts';

function setUp() {
  const clock = { seconds: 1000 };
  const limits = { limit: 3, windowSeconds: 60, restSeconds: 30 };
  return { clock, breaker: createCircuitBreaker(limits, () => clock.seconds) };
}

describe('a circuit breaker', () => {
  it('holds back after as many failures as it bears, and lets through again after its rest (T-186)', () => {
    const { clock, breaker } = setUp();
    expect([breaker.strike(), breaker.strike()]).toEqual([false, false]);
    expect(breaker.isOpen()).toBe(false);
    expect(breaker.strike()).toBe(true);
    clock.seconds += 29;
    expect(breaker.isOpen()).toBe(true);
    clock.seconds += 1;
    expect(breaker.isOpen()).toBe(false);
  });

  it('bears as much again after its rest', () => {
    const { clock, breaker } = setUp();
    for (let failure = 0; failure < 3; failure++) breaker.strike();
    clock.seconds += 30;
    expect([breaker.strike(), breaker.strike(), breaker.strike()]).toEqual([false, false, true]);
  });

  it('forgets failures older than its window', () => {
    const { clock, breaker } = setUp();
    breaker.strike();
    breaker.strike();
    clock.seconds += 60;
    expect(breaker.strike()).toBe(false);
  });
});
