/** Length of a window in milliseconds, and the numbers of messages that are passed on and read in it. */
const windowMs = 1000;
const maxPassed = 1000;
const passedForAnswer = 20;
const maxRead = 10_000;

/**
 * Limits the messages that a backend sends by itself: notifications, requests and unreadable lines. A thousand pass in
 * a second, and twenty more for each response; the others are dropped. After ten thousand no output is read for the
 * rest of the second, so that other backends are served (T-156).
 */
export class OutputRateLimiter {
  readonly #nowMs: () => number;
  #endsAtMs = 0;
  #taken = 0;
  #allowed = maxPassed;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts a response to a call. */
  answer(): void {
    this.#allowed += passedForAnswer;
  }

  /**
   * Counts a message that the backend sent by itself.
   * @returns `pauseMs`: the time for which no more output should be read
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
