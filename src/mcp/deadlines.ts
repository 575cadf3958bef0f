import { AsyncLocalStorage } from 'node:async_hooks';

/** Coarseness: a deadline is met at most this part of its time too late. */
const ticksPerTimeout = 20;

/** One that is waited for, between the one that ends before it and the one that ends after. */
interface Deadline {
  readonly endsAtTick: number;
  /** Undefined once it has passed or was taken back. */
  onEnd: (() => void) | undefined;
  before: Deadline | undefined;
  after: Deadline | undefined;
}

/**
 * Deadlines that all lie equally far ahead, kept by one coarse timer, so that a call costs no timer of its own. The
 * timer runs while there is something to watch and does not keep the process alive.
 */
export class Deadlines {
  readonly #tickMs: number;
  #first: Deadline | undefined;
  #last: Deadline | undefined;
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
    const deadline: Deadline = {
      // The running tick has begun already, so that one more makes the time whole.
      endsAtTick: this.#tick + ticksPerTimeout + 1,
      onEnd,
      before: this.#last,
      after: undefined,
    };
    if (this.#last) this.#last.after = deadline;
    else this.#first = deadline;
    this.#last = deadline;
    this.#timer ??= this.#outsideOfRequests(() => setInterval(() => this.#next(), this.#tickMs).unref());
    return () => this.#takeOut(deadline);
  }

  /** It lets go of all it knows: an old one that is over must not keep alive what is newer. */
  #takeOut(deadline: Deadline): void {
    if (deadline.onEnd === undefined) return;
    const { before, after } = deadline;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    deadline.onEnd = undefined;
    deadline.before = undefined;
    deadline.after = undefined;
  }

  #next(): void {
    this.#tick++;
    for (let first = this.#first; first && first.endsAtTick <= this.#tick; first = this.#first) {
      const { onEnd } = first;
      this.#takeOut(first);
      onEnd?.();
    }
    if (this.#first) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
