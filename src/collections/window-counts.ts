/** Maximum number of owners whose windows are kept; beyond, the first is forgotten. */
const maxOwners = 100_000;

/** Maximum number of keys that an owner counts by; further ones share a window, so that made-up keys open no room. */
const maxKeys = 256;

/** Key of the window that further keys share. */
const furtherKeys = '\u0000further';

interface Window {
  endsMs: number;
  count: number;
}

/**
 * Counts in windows of one length, by an owner and by keys that the owner may choose. Nothing is awaited: a count takes a
 * microsecond at most. No owner can make the counts of another be forgotten.
 */
export class WindowCounts {
  readonly #windowMs: number;
  readonly #nowMs: () => number;
  readonly #owners = new Map<string, Map<string, Window>>();
  #nextSweepMs = 0;

  /** @param windowMs length of a window; it begins with the first count of a key */
  constructor(windowMs: number, nowMs: () => number) {
    this.#windowMs = windowMs;
    this.#nowMs = nowMs;
  }

  /**
   * Counts one, if there is room.
   * @returns 0, or the time until there is room, in milliseconds
   */
  take(owner: string, key: string, limit: number): number {
    const nowMs = this.#nowMs();
    if (nowMs >= this.#nextSweepMs) this.#sweep(nowMs);
    const windows = this.#windowsOf(owner);
    forgetEnded(windows, nowMs);
    const counted = windows.has(key) || windows.size < maxKeys ? key : furtherKeys;
    const window = windows.get(counted);
    if (!window) {
      windows.set(counted, { endsMs: nowMs + this.#windowMs, count: 1 });
      return 0;
    }
    if (window.count >= limit) return window.endsMs - nowMs;
    window.count++;
    return 0;
  }

  /** Takes one count off again. */
  giveBack(owner: string, key: string): void {
    const windows = this.#owners.get(owner);
    const window = windows?.get(key) ?? windows?.get(furtherKeys);
    if (window) window.count--;
  }

  #windowsOf(owner: string): Map<string, Window> {
    const known = this.#owners.get(owner);
    if (known) return known;
    const [first] = this.#owners.size < maxOwners ? [] : this.#owners.keys();
    if (first !== undefined) this.#owners.delete(first);
    const windows = new Map<string, Window>();
    this.#owners.set(owner, windows);
    return windows;
  }

  /** Forgets the owners without a window, once in the length of a window. */
  #sweep(nowMs: number): void {
    this.#nextSweepMs = nowMs + this.#windowMs;
    for (const [owner, windows] of this.#owners) {
      forgetEnded(windows, nowMs);
      if (windows.size === 0) this.#owners.delete(owner);
    }
  }
}

/** Windows stand in the order of their ends. */
function forgetEnded(windows: Map<string, Window>, nowMs: number): void {
  for (const [key, { endsMs }] of windows) {
    if (endsMs > nowMs) return;
    windows.delete(key);
  }
}
