import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startSweeper } from '../../src/composition/upkeep.ts';
import { createLogger } from '../../src/observability/logger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Starts a sweeper. */
function start(sweepExpired: (now: number) => Promise<number>) {
  const log: string[] = [];
  const prune = vi.fn(async () => 0);
  const pruneCalls = vi.fn(async () => 0);
  const stop = startSweeper({
    storage: { sweepExpired, audit: { prune }, calls: { prune: pruneCalls } } as unknown as Parameters<
      typeof startSweeper
    >[0]['storage'],
    settings: {
      audit: { keepDays: 2, maxEvents: 1000 },
      calls: { store: 'database', keepDays: 3, maxCalls: 2000, keepHoursDays: 5 },
    },
    logger: createLogger('warn', (line) => log.push(line)),
    now: () => 1_000_000,
  });
  return { stop, prune, pruneCalls, log };
}

it('expired rows, old events and old calls are swept each minute, until it is stopped', async () => {
  const sweepExpired = vi.fn(async () => 0);
  const { stop, prune, pruneCalls } = start(sweepExpired);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sweepExpired.mock.calls).toEqual([[1_000_000], [1_000_000]]);
  expect(prune).toHaveBeenLastCalledWith({ before: 1_000_000 - 2 * 86_400, maxRows: 1000 });
  expect(pruneCalls).toHaveBeenLastCalledWith({
    nowMs: 1_000_000_000,
    before: (1_000_000 - 3 * 86_400) * 1000,
    maxRows: 2000,
    hoursBefore: (1_000_000 - 5 * 86_400) * 1000,
  });
  stop();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sweepExpired).toHaveBeenCalledTimes(2);
});

it('a sweep that fails is logged, and the next one is tried', async () => {
  const sweepExpired = vi.fn(async () => Promise.reject(new Error('the disk is full')));
  const { stop, log } = start(sweepExpired);
  await vi.advanceTimersByTimeAsync(120_000);
  stop();
  expect(sweepExpired).toHaveBeenCalledTimes(2);
  expect(log.join('')).toContain('expired rows could not be removed');
});
