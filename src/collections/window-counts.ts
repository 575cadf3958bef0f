/** Maximum number of windows; the oldest is dropped first. */
const maxWindows = 100_000;

/** Counts in windows of one length, by keys that others may choose. Nothing is awaited: a count takes a microsecond at most. */
export class WindowCounts {
  readonly #windowMs: number;
  readonly #nowMs: () => number;
  readonly #windows = new Map<string, { endsMs: number; count: number }>();

  /** @param windowMs length of a window; it begins with the first count of a key */
  constructor(windowMs: number, nowMs: () => number) {
    this.#windowMs = windowMs;
    this.#nowMs = nowMs;
  }

  /**
   * Counts one, if there is room.
   * @returns 0, or how long there is no room, in milliseconds
   */
  take(key: string, limit: number): number {
    const nowMs = this.#nowMs();
    this.#forgetEnded(nowMs);
    const window = this.#windows.get(key);
    if (!window) {
      this.#windows.set(key, { endsMs: nowMs + this.#windowMs, count: 1 });
      return 0;
    }
    if (window.count >= limit) return window.endsMs - nowMs;
    window.count++;
    return 0;
  }

  /** Takes one count back. */
  giveBack(key: string): void {
    const window = this.#windows.get(key);
    if (window) window.count--;
  }

  /** The windows are ordered by their end. */
  #forgetEnded(nowMs: number): void {
    for (const [key, { endsMs }] of this.#windows) {
      if (endsMs > nowMs && this.#windows.size < maxWindows) return;
      this.#windows.delete(key);
    }
  }
}
