/** Deadlines that all lie equally far ahead. They do not keep the process alive. */
export class Deadlines {
  readonly #timeoutMs: number;

  /** @param timeoutMs in milliseconds */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Sets a deadline.
   * @param onEnd called once when the deadline has passed
   * @returns takes the deadline back
   */
  set(onEnd: () => void): () => void {
    const timer = setTimeout(onEnd, this.#timeoutMs).unref();
    return () => clearTimeout(timer);
  }
}
