import { setTimeout as sleep } from 'node:timers/promises';

/** Interval of the checks, in milliseconds. */
const lookEveryMs = 500;

/**
 * Looks for something until it is there.
 * @param patienceMs for how long, in milliseconds; 0 for one look
 * @returns what was found; undefined if it never was
 */
export async function waitFor<T>(
  look: () => Promise<T | undefined>,
  patienceMs: number,
): Promise<T | undefined> {
  const endsMs = performance.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() >= endsMs) return found;
    await sleep(lookEveryMs);
  }
}
