/** Counts calls in windows of a minute, by keys that others may choose. */
export class CallCounts {
  readonly #nowMs: () => number;
  readonly #windows = new Map<string, { endsMs: number; count: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Counts one, where there is room.
   * @returns 0, or how long there is no room, in milliseconds
   */
  take(key: string, limit: number): number {
    const nowMs = this.#nowMs();
    this.#forgetEnded(nowMs);
    const window = this.#windows.get(key);
    if (!window) {
      this.#windows.set(key, { endsMs: nowMs + minuteMs, count: 1 });
      return 0;
    }
    if (window.count >= limit) return window.endsMs - nowMs;
    window.count++;
    return 0;
  }

  /** Windows stand in the order of their ends. */
  #forgetEnded(nowMs: number): void {
    for (const [key, { endsMs }] of this.#windows) {
      if (endsMs > nowMs && this.#windows.size < maxWindows) return;
      this.#windows.delete(key);
    }
  }
}

const minuteMs = 60_000;

/** Most that are kept; beyond, the oldest is forgotten. */
const maxWindows = 100_000;
