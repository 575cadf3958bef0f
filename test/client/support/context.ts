import type { ClientContext } from '../../../src/client/index.ts';

/** Start of the test clock, epoch seconds. */
export const startOfTime = 1_800_000_000;

/** A context with the real fetch and a clock that tests set. */
export function testContext(): ClientContext & { clock: { seconds: number } } {
  const clock = { seconds: startOfTime };
  return { fetch: globalThis.fetch, now: () => clock.seconds, timeoutMs: 2_000, clock };
}
