import { setTimeout as wait } from 'node:timers/promises';
import type { Fetch } from '../../context.ts';
import { neverLeft } from '../../network-failure.ts';

/** How long a server that was there before may be away, in milliseconds. */
const defaultPatienceMs = 20_000;

const firstWaitMs = 100;
const longestWaitMs = 2_000;

/**
 * A fetch that waits for a server which restarts: what never left this machine is sent again, for a while. A server
 * that has never answered is not waited for.
 * @param fetch what requests go through
 * @param patienceMs how long to wait, in milliseconds
 * @returns a fetch; it rejects with the last failure
 */
export function patientFetch(fetch: Fetch, patienceMs = defaultPatienceMs): Fetch {
  const known = new Set<string>();
  return async (url, init = {}) => {
    const { origin } = new URL(url);
    const until = Date.now() + patienceMs;
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      try {
        const response = await fetch(url, init);
        known.add(origin);
        return response;
      } catch (error) {
        if (!known.has(origin) || !neverLeft(error) || Date.now() + waitMs > until) throw error;
        await wait(waitMs, undefined, init.signal ? { signal: init.signal } : {});
      }
    }
  };
}
