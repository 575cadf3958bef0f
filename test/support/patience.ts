import { availableParallelism, loadavg } from 'node:os';

/**
 * How long something that takes `quietMs` at most on a machine of its own may take on this one, now: as many times as
 * long as there are programs that want each processor (the load of the last minute). Tests that hold the product to a
 * time use it, as they share their processors with other tests.
 *
 * @param quietMs milliseconds
 * @returns milliseconds, never fewer than `quietMs`
 */
export function patience(quietMs: number): number {
  const [lastMinute = 0] = loadavg();
  return quietMs * Math.max(1, lastMinute / availableParallelism());
}
