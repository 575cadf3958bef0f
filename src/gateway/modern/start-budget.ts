import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';

/**
 * How long the start of a server may take for each caller: what they have waited before it, until it was known which eras
 * the server speaks, counts. So they hear that it does not answer before their clients give up, which do so after 60 s.
 */
export class StartBudget {
  readonly #wholeMs: number;
  readonly #nowMs: () => number;
  /** How long each principal has waited, and when. */
  readonly #waited = new Map<string, { forMs: number; atMs: number }>();

  /** @param wholeMs how long a start may take for who has not waited, in milliseconds */
  constructor(wholeMs: number, nowMs: () => number) {
    this.#wholeMs = wholeMs;
    this.#nowMs = nowMs;
  }

  /** Takes note that a caller has waited, in milliseconds. */
  waited(caller: AuthInfo, forMs: number): void {
    this.#forget();
    const key = principalKey(caller);
    this.#waited.delete(key);
    this.#waited.set(key, { forMs, atMs: this.#nowMs() });
  }

  /** A caller has their answer. */
  answered(caller: AuthInfo): void {
    this.#waited.delete(principalKey(caller));
  }

  /** How long a start may take now, in milliseconds. @param caller for whom; undefined where it is for everybody */
  leftMs(caller: AuthInfo | undefined): number {
    this.#forget();
    const { forMs } = (caller && this.#waited.get(principalKey(caller))) ?? { forMs: 0 };
    return Math.max(0, Math.round(this.#wholeMs - forMs));
  }

  /** Who started nothing for as long as a start takes waits for none. */
  #forget(): void {
    const before = this.#nowMs() - this.#wholeMs;
    for (const [key, { atMs }] of this.#waited) {
      if (atMs > before) break;
      this.#waited.delete(key);
    }
  }
}
