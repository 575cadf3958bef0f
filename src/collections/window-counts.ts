/** Maximum number of owners whose windows are kept; beyond, the first is forgotten. */
const maxOwners = 100_000;

/** Maximum number of keys that an owner counts by; further ones share a window, so that made-up keys open no room. */
const maxKeys = 256;

/** Key of the window that further keys share. */
const furtherKeys = '\u0000further';

/** The counts of a key in its window. */
export class CountWindow {
  readonly owner: string;
  readonly key: string;
  readonly lengthMs: number;
  endsMs: number;
  /** Counts of this process, and of others as far as they are known. */
  count = 1;
  /** Counts of this process that others do not know yet. */
  unshared = 1;
  readonly #nowMs: () => number;

  /** Begins a window with its first count. */
  constructor(owner: string, key: string, lengthMs: number, nowMs: () => number) {
    this.owner = owner;
    this.key = key;
    this.lengthMs = lengthMs;
    this.endsMs = nowMs() + lengthMs;
    this.#nowMs = nowMs;
  }

  get isOver(): boolean {
    return this.endsMs <= this.#nowMs();
  }

  /** @param points negative for counts that are given back */
  add(points: number): void {
    this.count += points;
    this.unshared += points;
  }

  /**
   * Takes over the counts of all processes.
   * @param leftMs time until their window ends, in milliseconds
   */
  adopt(total: number, leftMs: number): void {
    this.count = total + this.unshared;
    this.endsMs = this.#nowMs() + leftMs;
  }
}

/**
 * Share of a limit up to which a process keeps new counts of a key to itself: most callers never come near a limit, and
 * counting them costs other processes nothing.
 */
const unsharedShare = 0.01;

/** Called when a window has counts to share with other processes. */
export type ShareCounts = (window: CountWindow) => void;

/**
 * Counts in windows of one length, by an owner and by keys that the owner may choose. Nothing is awaited: a count takes a
 * microsecond at most. No owner can make the counts of another be forgotten.
 */
export class WindowCounts {
  readonly #windowMs: number;
  readonly #nowMs: () => number;
  readonly #share: ShareCounts | undefined;
  readonly #owners = new Map<string, Map<string, CountWindow>>();
  #nextSweepMs = 0;

  /**
   * @param windowMs length of a window; it begins with the first count of a key
   * @param share undefined if this process counts alone
   */
  constructor(windowMs: number, nowMs: () => number, share?: ShareCounts) {
    this.#windowMs = windowMs;
    this.#nowMs = nowMs;
    this.#share = share;
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
    let window = windows.get(counted);
    if (window && !window.isOver) {
      if (window.count >= limit) return window.endsMs - nowMs;
      window.add(1);
    } else {
      window = new CountWindow(owner, counted, this.#windowMs, this.#nowMs);
      windows.set(counted, window);
    }
    if (window.unshared >= limit * unsharedShare) this.#share?.(window);
    return 0;
  }

  /** Returns the time until there is room, in milliseconds, without counting; 0 if there is room. */
  wait(owner: string, key: string, limit: number): number {
    const window = this.#find(owner, key);
    return window && window.count >= limit ? window.endsMs - this.#nowMs() : 0;
  }

  /** Takes one count off again. */
  giveBack(owner: string, key: string): void {
    this.#find(owner, key)?.add(-1);
  }

  #find(owner: string, key: string): CountWindow | undefined {
    const windows = this.#owners.get(owner);
    const window = windows?.get(key) ?? windows?.get(furtherKeys);
    return window?.isOver ? undefined : window;
  }

  #windowsOf(owner: string): Map<string, CountWindow> {
    const known = this.#owners.get(owner);
    if (known) return known;
    const [first] = this.#owners.size < maxOwners ? [] : this.#owners.keys();
    if (first !== undefined) this.#owners.delete(first);
    const windows = new Map<string, CountWindow>();
    this.#owners.set(owner, windows);
    return windows;
  }

  /** Forgets the owners without a window, once in the length of a window. */
  #sweep(nowMs: number): void {
    this.#nextSweepMs = nowMs + this.#windowMs;
    for (const [owner, windows] of this.#owners) {
      for (const [key, window] of windows) if (window.isOver) windows.delete(key);
      if (windows.size === 0) this.#owners.delete(owner);
    }
  }
}

/** Forgets ended windows up to the first that lasts: they are in the order of their ends, but for adopted ones. */
function forgetEnded(windows: Map<string, CountWindow>, nowMs: number): void {
  for (const [key, { endsMs }] of windows) {
    if (endsMs > nowMs) return;
    windows.delete(key);
  }
}
