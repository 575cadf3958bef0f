import { describe, expect, it } from 'vitest';
import { type ProcessFailure, Restarts } from '../../../src/gateway/backends/restarts.ts';

function start(random = 1) {
  let nowMs = 0;
  const restarts = new Restarts(
    () => nowMs,
    () => random,
  );
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  const wait = (account = 'ada'): number => restarts.waiting(account)?.waitMs ?? 0;
  const fail = (failure: Omit<ProcessFailure, 'begunMs'>, begunMs = nowMs): void =>
    restarts.failed('ada', { begunMs, ...failure });
  return { restarts, fail, pass, wait };
}

const ended = { reason: 'backend_ended', stoodMs: 10 } as const;
const notStarted = { reason: 'backend_not_started' } as const;

describe('the restarts of a program', () => {
  it('wait twice as long with each start that fails, up to a minute (T-155)', () => {
    const { fail, pass, wait } = start();
    const waits = Array.from({ length: 9 }, () => {
      fail(notStarted);
      const waitMs = wait();
      pass(waitMs);
      return waitMs;
    });
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('wait longer where it took long to see that it does not answer', () => {
    const { fail, wait } = start();
    const waits = Array.from({ length: 4 }, () => {
      fail({ reason: 'backend_start_timed_out' });
      return wait();
    });
    expect(waits).toEqual([10_000, 20_000, 40_000, 60_000]);
  });

  it('come at once after it ended three times, then wait', () => {
    const { fail, restarts, wait } = start();
    const waits = Array.from({ length: 5 }, () => {
      fail(ended);
      return wait();
    });
    expect(waits).toEqual([0, 0, 0, 1000, 2000]);
    expect(restarts.waiting('ada')?.reason).toBe('backend_ended');
  });

  it('have jitter, so that many do not start together', () => {
    const { fail, wait } = start(0);
    fail(notStarted);
    expect(wait()).toBe(750);
  });

  it('begin anew after it stood a minute, or was left alone a minute', () => {
    const { fail, pass, wait } = start();
    for (let count = 0; count < 6; count++) fail(ended);
    fail({ ...ended, stoodMs: 60_000 });
    expect(wait()).toBe(0);
    for (let count = 0; count < 3; count++) fail(notStarted);
    pass(wait() + 60_000);
    fail(notStarted);
    expect(wait()).toBe(1000);
  });

  it('count what failed side by side once, and nothing that began before an answer (T-158)', () => {
    const { fail, pass, restarts, wait } = start();
    const silent = { reason: 'backend_start_timed_out' } as const;
    pass(50_000);
    for (let session = 0; session < 4; session++) fail(silent, session);
    expect(wait()).toBe(10_000);
    pass(20_000);
    restarts.succeeded('ada');
    fail(silent, 60_000);
    expect(wait()).toBe(0);
    pass(50_000);
    fail(silent, 71_000);
    expect(wait()).toBe(10_000);
  });

  it('wait no longer for one that is silent because of others that ended', () => {
    const { fail, wait } = start();
    for (let count = 0; count < 4; count++) fail(ended);
    fail({ reason: 'backend_start_timed_out' });
    expect(wait()).toBe(10_000);
  });

  it('of one account are nothing to another (T-158)', () => {
    const { fail, wait } = start();
    fail(notStarted);
    expect([wait('ada'), wait('grace')]).toEqual([1000, 0]);
  });
});
