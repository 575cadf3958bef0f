/** Maximum number of counts of a key in a window. */
export interface CounterLimit {
  times: number;
  windowSeconds: number;
}

/** New counts of a key. */
export interface NewCounts {
  key: string;
  /** At least 1. */
  points: number;
  windowSeconds: number;
}

/** The counts of a key over all nodes. */
export interface CounterState {
  points: number;
  /** Time until the window ends, in milliseconds. */
  leftMs: number;
}

/**
 * Counts by key in windows of time, over all nodes of an installation. The window of a key begins with its first count,
 * by the clock of the database. A crash of the database may lose the counts of its last second. Keys are digests under a
 * secret: addresses and e-mail addresses are not stored.
 */
export interface CounterStore {
  /**
   * Counts one if there is room, atomically.
   * @returns 0; or the milliseconds until the window ends, and nothing is counted
   * @throws StorageUnavailable if it cannot be counted
   */
  take(key: string, limit: CounterLimit): Promise<number>;
  /** Takes one count off again. The window of a key without counts ends. */
  giveBack(key: string): Promise<void>;
  /** Forgets the counts of a key. */
  reset(key: string): Promise<void>;
  /**
   * Adds counts of several keys, in one write.
   * @param counts different keys
   * @returns the counts of all nodes, by key
   */
  add(counts: readonly NewCounts[]): Promise<Map<string, CounterState>>;
}
