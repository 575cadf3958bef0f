import { AsyncLocalStorage } from 'node:async_hooks';

/** Sends something, now or in a moment. @param send must not throw */
export type WriteBatcher = (send: () => void) => void;

/** How many wait at most for those behind them. */
const maxWaiting = 16;

/** What comes later than this after the one before is no part of a burst, in milliseconds. */
const burstGapMs = 1;

/**
 * Has what is sent in a burst leave together. To send wakes the process at the other end, which often costs more than to
 * make what is sent; one that gets several at once is woken once. What comes alone leaves at once. What follows something
 * else closely waits for what the turn of the event loop still brings, the next one if it is sent at the end of one, or
 * for the sixteenth; the order stays.
 */
export function createWriteBatcher(): WriteBatcher {
  let waiting: (() => void)[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;

  // In the context of none of those who send: what one set off belongs to none of the others.
  const flush = AsyncLocalStorage.bind(() => {
    const burst = waiting;
    waiting = [];
    for (const send of burst) send();
  });

  return (send) => {
    const nowMs = performance.now();
    const isAlone = nowMs - lastMs > burstGapMs;
    lastMs = nowMs;
    waiting.push(send);
    if (isAlone || waiting.length >= maxWaiting) flush();
    else if (waiting.length === 1) setImmediate(flush);
  };
}
