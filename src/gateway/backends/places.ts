import type { JsonRpcError } from '../../mcp/protocol.ts';

/** A process that takes a place. */
export interface Occupant {
  /** Owner. */
  readonly account: string;
  /** Since when nothing runs in it, on the clock of the places; undefined while something does. */
  readonly idleSinceMs: number | undefined;
  /**
   * True if somebody waits for what it says by itself, or may come for it within a time of its own: it is in use,
   * though idle.
   */
  readonly isListenedTo: boolean;
  /** Ends it, for another. */
  giveWay(): void;
}

/** Limits of the number of processes. */
export interface PlaceLimits {
  total: number;
  perAccount: number;
}

/** Others' processes give way only when nobody has used them for this long, in milliseconds. */
const othersRestMs = 60_000;

/**
 * Bounds the processes of a backend, for an account and for all (T-158). If there is no place, the longest idle process
 * gives way: one of the same account, or one nobody has used for a minute.
 */
export class Places {
  readonly #name: string;
  readonly #limits: PlaceLimits;
  readonly #nowMs: () => number;
  readonly #taken = new Set<Occupant>();

  /** @param name what the backend is called, for those who get no place */
  constructor(name: string, limits: PlaceLimits, nowMs: () => number) {
    this.#name = name;
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Number of taken places. */
  get taken(): number {
    return this.#taken.size;
  }

  /**
   * Takes a place.
   * @returns why there is none
   */
  take(occupant: Occupant): JsonRpcError | undefined {
    const { total, perAccount } = this.#limits;
    const own = [...this.#taken].filter(({ account }) => account === occupant.account);
    if (own.length >= perAccount && !this.#makeRoom(own)) return this.#none(perAccount, 'of your account ');
    if (this.#taken.size >= total && !this.#makeRoom(own) && !this.#makeRoom(this.#restingOthers()))
      return this.#none(total, '');
    this.#taken.add(occupant);
    return undefined;
  }

  /** Returns a place back. */
  leave(occupant: Occupant): void {
    this.#taken.delete(occupant);
  }

  /** Ends those that nobody has used for some time, in milliseconds, and nobody listens to. */
  endIdle(idleMs: number): void {
    const before = this.#nowMs() - idleMs;
    for (const occupant of [...this.#taken]) {
      const { idleSinceMs, isListenedTo } = occupant;
      if (idleSinceMs === undefined || idleSinceMs > before || isListenedTo) continue;
      this.#taken.delete(occupant);
      occupant.giveWay();
    }
  }

  #restingOthers(): Occupant[] {
    const before = this.#nowMs() - othersRestMs;
    return [...this.#taken].filter(({ idleSinceMs }) => idleSinceMs !== undefined && idleSinceMs <= before);
  }

  #makeRoom(candidates: readonly Occupant[]): boolean {
    const [longest] = candidates
      .filter(({ idleSinceMs }) => idleSinceMs !== undefined)
      .sort((one, other) => (one.idleSinceMs ?? 0) - (other.idleSinceMs ?? 0));
    if (!longest) return false;
    this.#taken.delete(longest);
    longest.giveWay();
    return true;
  }

  #none(limit: number, whose: string): JsonRpcError {
    const busy =
      limit === 1
        ? `The one process ${whose}for the MCP server ${this.#name} is busy. Try again when its call has ended.`
        : `All ${limit} processes ${whose}for the MCP server ${this.#name} are busy. Try again when a call of theirs has ended.`;
    return { code: -32000, message: busy, data: { reason: 'backend_processes_exhausted' } };
  }
}
