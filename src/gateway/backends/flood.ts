/** Limits of the output of a process in one second: passed on, and read. */
const windowMs = 1000;
const maxPassed = 1000;
const passedForAnswer = 20;
const maxRead = 10_000;

/**
 * Bounds what a process says unasked: notifications, requests and lines that are no messages. Beyond a thousand in a
 * second, and twenty more for each of its answers, they are dropped; beyond ten thousand nothing more is read in that
 * second, so that others are served (T-156).
 */
export class Flood {
  readonly #nowMs: () => number;
  #endsAtMs = 0;
  #taken = 0;
  #allowed = maxPassed;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts an answer to a call. */
  answer(): void {
    this.#allowed += passedForAnswer;
  }

  /**
   * Counts what was said unasked.
   * @returns whether it is passed on, whether it is the first of its second that is not, and how long nothing more is
   * to be read, in milliseconds
   */
  take(): { passes: boolean; isFirstDropped: boolean; pauseMs: number } {
    const nowMs = this.#nowMs();
    if (nowMs >= this.#endsAtMs) {
      this.#endsAtMs = nowMs + windowMs;
      this.#taken = 0;
      this.#allowed = maxPassed;
    }
    this.#taken++;
    const passes = this.#taken <= this.#allowed;
    const isFirstDropped = this.#taken === this.#allowed + 1;
    const pauseMs = this.#taken >= Math.max(maxRead, this.#allowed) ? this.#endsAtMs - nowMs : 0;
    return { passes, isFirstDropped, pauseMs };
  }
}
