const lineFeed = 0x0a;

/** Receiver of the lines of a reader. */
export interface LineTaker {
  /** Takes a line without its line feed. The bytes are the taker's to keep. */
  line(bytes: Uint8Array): void;
  /** A line was longer than allowed; it is skipped. Called once for it, as soon as it is known. */
  tooLong(): void;
}

/**
 * Cuts a stream of bytes into lines, before anything is decoded, so that characters may be split anywhere between two
 * chunks. It never holds more than one line of the allowed length (T-150).
 */
export class LineReader {
  readonly #maxBytes: number;
  readonly #taker: LineTaker;
  /** The beginning of a line whose end has not come yet; grows by doubling, so that many small chunks cost little. */
  #held = new Uint8Array(0);
  #heldLength = 0;
  #skipping = false;

  /** @param maxBytes longest line, without its line feed */
  constructor(maxBytes: number, taker: LineTaker) {
    this.#maxBytes = maxBytes;
    this.#taker = taker;
  }

  /** Stored bytes of an incomplete line. */
  get heldBytes(): number {
    return this.#heldLength;
  }

  /** Takes the next chunk, and hands on the lines that end in it. */
  push(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      this.#hold(chunk.subarray(from, end));
      if (!this.#skipping) this.#taker.line(this.#held.slice(0, this.#heldLength));
      this.#forget();
      this.#skipping = false;
      from = end + 1;
    }
    this.#hold(chunk.subarray(from));
  }

  #hold(part: Uint8Array): void {
    if (this.#skipping || part.length === 0) return;
    const length = this.#heldLength + part.length;
    if (length > this.#maxBytes) {
      this.#skipping = true;
      this.#forget();
      this.#taker.tooLong();
      return;
    }
    if (length > this.#held.length) {
      const grown = new Uint8Array(Math.min(this.#maxBytes, Math.max(length, this.#held.length * 2)));
      grown.set(this.#held.subarray(0, this.#heldLength));
      this.#held = grown;
    }
    this.#held.set(part, this.#heldLength);
    this.#heldLength = length;
  }

  #forget(): void {
    this.#heldLength = 0;
    if (this.#held.length > maxKeptBytes) this.#held = new Uint8Array(0);
  }
}

/** A buffer up to this size is used again for the next line. */
const maxKeptBytes = 64 * 1024;
