import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';

/** Those who waited for the same go on at nearly the same time, in milliseconds. */
const sameWaitMs = 1000;

/**
 * Time budget of a server's start for each caller; the wait for the era detection counts. So callers learn that a
 * server does not respond before their clients give up, which do so after 60 s.
 */
export class StartBudget {
  readonly #wholeMs: number;
  readonly #nowMs: () => number;
  /** Waiting time of each principal, and when it was recorded. */
  readonly #waited = new Map<string, { forMs: number; atMs: number }>();

  /** @param wholeMs how long a start may take for who has not waited, in milliseconds */
  constructor(wholeMs: number, nowMs: () => number) {
    this.#wholeMs = wholeMs;
    this.#nowMs = nowMs;
  }

  /** Takes note that a caller has waited since then; of several who waited for the same, who waited longest. */
  waited(caller: AuthInfo, sinceMs: number): void {
    this.#forget();
    const [key, atMs] = [principalKey(caller), this.#nowMs()];
    const known = this.#waited.get(key);
    const isSame = known !== undefined && atMs - known.atMs < sameWaitMs;
    this.#waited.delete(key);
    const forMs = atMs - sinceMs;
    this.#waited.set(key, { forMs: isSame ? Math.max(known.forMs, forMs) : forMs, atMs });
  }

  /** A caller has their answer. */
  answered(caller: AuthInfo): void {
    this.#waited.delete(principalKey(caller));
  }

  /**
   * Takes how long a start may take now, in milliseconds. What was waited counts for one start; the next has the whole
   * time.
   * @param caller for whom; undefined if it is for everybody
   */
  takeMs(caller: AuthInfo | undefined): number {
    this.#forget();
    const key = caller && principalKey(caller);
    const waited = key === undefined ? undefined : this.#waited.get(key);
    if (key === undefined || waited === undefined) return this.#wholeMs;
    this.#waited.delete(key);
    return Math.max(0, Math.round(this.#wholeMs - waited.forMs));
  }

  /** A caller who started nothing for as long as a start takes waits for none. */
  #forget(): void {
    const before = this.#nowMs() - this.#wholeMs;
    for (const [key, { atMs }] of this.#waited) {
      if (atMs > before) break;
      this.#waited.delete(key);
    }
  }
}
