/** Pieces shorter than this are copied together: each that is kept by itself costs more than a hundred bytes. */
const shortBytes = 512;
const blockBytes = 4 * 1024;

const nothing = Buffer.alloc(0);

/**
 * Bytes that come in pieces and are wanted whole. However small a server makes its pieces, what is kept of them takes up
 * little more than their length (T-157).
 */
export class Pieces {
  #kept: Buffer[] = [];
  #block = nothing;
  #used = 0;

  /** True if nothing has come. */
  get isEmpty(): boolean {
    return this.#kept.length === 0 && this.#used === 0;
  }

  /** Takes the next piece; its bytes are to be left as they are. */
  add(piece: Buffer): void {
    if (this.isEmpty || piece.length >= shortBytes) {
      this.#closeBlock();
      if (piece.length > 0) this.#kept.push(piece);
      return;
    }
    if (this.#used + piece.length > this.#block.length) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
    }
    piece.copy(this.#block, this.#used);
    this.#used += piece.length;
  }

  /** Returns all that has come, and begins anew. */
  take(): Buffer {
    this.#closeBlock();
    const kept = this.#kept;
    this.#kept = [];
    return kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept);
  }

  #closeBlock(): void {
    if (this.#used > 0) this.#kept.push(this.#block.subarray(0, this.#used));
    // What is behind it goes on being used: only the part in front is given away.
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }
}
