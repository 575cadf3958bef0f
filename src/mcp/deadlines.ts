import { AsyncLocalStorage } from 'node:async_hooks';
import { InFlightMap } from '../collections/in-flight-map.ts';

/** Coarseness: a deadline is met at most this part of its time too late. */
const ticksPerTimeout = 20;

/**
 * Deadlines that all lie equally far ahead, kept by one coarse timer, so that a call costs no timer of its own. The
 * timer runs while there is something to watch and does not keep the process alive.
 */
export class Deadlines {
  readonly #tickMs: number;
  /** In the order in which they end. */
  readonly #pending = new InFlightMap<number, { endsAtTick: number; onEnd: () => void }>();
  #lastPlace = 0;
  #tick = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The timer is that of all who wait: it runs in the context of none of them. */
  readonly #outsideOfRequests = AsyncLocalStorage.snapshot();

  /** @param timeoutMs how far ahead each deadline lies, in milliseconds */
  constructor(timeoutMs: number) {
    this.#tickMs = Math.max(1, Math.ceil(timeoutMs / ticksPerTimeout));
  }

  /**
   * Sets a deadline.
   * @param onEnd called once when it has passed
   * @returns takes it back, and lets go of `onEnd`
   */
  set(onEnd: () => void): () => void {
    // The running tick has begun already, so that one more makes the time whole.
    const endsAtTick = this.#tick + ticksPerTimeout + 1;
    const place = ++this.#lastPlace;
    this.#pending.set(place, { endsAtTick, onEnd });
    this.#timer ??= this.#outsideOfRequests(() => setInterval(() => this.#next(), this.#tickMs).unref());
    return () => void this.#pending.delete(place);
  }

  #next(): void {
    this.#tick++;
    for (const place of this.#pending.keys()) {
      const deadline = this.#pending.get(place);
      // One that ended before it may have taken it back.
      if (!deadline) continue;
      if (deadline.endsAtTick > this.#tick) break;
      this.#pending.delete(place);
      deadline.onEnd();
    }
    if (this.#pending.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
