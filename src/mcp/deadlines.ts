import { AsyncLocalStorage } from 'node:async_hooks';

const nothing = (): void => undefined;

/** Coarseness: a deadline is met at most this part of its time too late. */
const ticksPerTimeout = 20;

/**
 * Deadlines that all lie equally far ahead, kept by one coarse timer, so that a call costs no timer of its own. The
 * timer runs while there is something to watch and does not keep the process alive.
 */
export class Deadlines {
  readonly #tickMs: number;
  /** In the order in which they end. */
  readonly #pending = new Set<{ endsAtTick: number; onEnd: () => void }>();
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
   * @returns takes it back, and lets go of `onEnd`: V8 moves a set that entries come to and go from to a new table again
   *   and again, and the old ones, with what was in them, stay until all memory is searched
   */
  set(onEnd: () => void): () => void {
    // The running tick has begun already, so that one more makes the time whole.
    const deadline = { endsAtTick: this.#tick + ticksPerTimeout + 1, onEnd };
    this.#pending.add(deadline);
    this.#timer ??= this.#outsideOfRequests(() => setInterval(() => this.#next(), this.#tickMs).unref());
    return () => {
      this.#pending.delete(deadline);
      deadline.onEnd = nothing;
    };
  }

  #next(): void {
    this.#tick++;
    for (const deadline of this.#pending) {
      if (deadline.endsAtTick > this.#tick) break;
      this.#pending.delete(deadline);
      deadline.onEnd();
    }
    if (this.#pending.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
