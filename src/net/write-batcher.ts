import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Calls `send` now or shortly.
 * @param send must not throw
 */
export type WriteBatcher = (send: () => void) => void;

/** Maximum number of writes in a batch. */
const maxWaiting = 16;

/** Maximum pause between two writes of a burst, in milliseconds. */
const burstGapMs = 1;

/**
 * Batches the writes of a burst. A write wakes the receiving process, which often costs more than preparing the data; a
 * batch wakes it once. A single write is sent at once. A write shortly after another waits until the end of this turn
 * of the event loop, or the next one if it comes at the end of a turn, or for the sixteenth write; the order stays.
 */
export function createWriteBatcher(): WriteBatcher {
  let waiting: (() => void)[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;

  // Bound to a neutral async context: the effects of a batch belong to none of its writers.
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
