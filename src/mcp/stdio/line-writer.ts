import type { Writable } from 'node:stream';
import { jsonLine } from '../../collections/exact-json.ts';

const flushPatienceMs = 1000;

/**
 * Writes messages as lines. A reader that is gone (EPIPE) is no error: what is written then goes nowhere (T-150).
 */
export class LineWriter {
  readonly #stdout: Writable;
  #isGone = false;

  /** @param onGone called once when nobody reads any more */
  constructor(stdout: Writable, onGone: () => void) {
    this.#stdout = stdout;
    const gone = (): void => {
      if (this.#isGone) return;
      this.#isGone = true;
      onGone();
    };
    // The listener stays: a late EPIPE must not end the process with an uncaught error.
    stdout.on('error', gone);
    stdout.once('close', gone);
  }

  /** True if the reader has more to take than is wise to add to. */
  get isFull(): boolean {
    return !this.#isGone && this.#stdout.writableNeedDrain;
  }

  /** Calls back once when it is not full any more. */
  onDrain(callback: () => void): void {
    this.#stdout.once('drain', callback);
  }

  /** Writes one message as one line: JSON escapes line breaks (B1-03). */
  write(message: unknown): void {
    if (!this.#isGone) this.#stdout.write(jsonLine(message));
  }

  /** Resolves when all that was written is out, or nobody takes it for a second. */
  async flush(): Promise<void> {
    if (this.#isGone) return;
    const { promise: out, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, flushPatienceMs);
    this.#stdout.write('', () => resolve());
    this.#stdout.once('close', () => resolve());
    await out;
    clearTimeout(timer);
  }
}
