import { ownData } from '../../../mcp/building-blocks.ts';
import type { JsonRpcError } from '../../../mcp/protocol.ts';

/** A process that takes a place in a pool. */
export interface PooledProcess {
  /** Owner. */
  readonly account: string;
  /** Start of its idle time, on the clock of the pool; undefined while requests run in it. */
  readonly idleSinceMs: number | undefined;
  /** True if a caller waits for messages that it sends by itself, or may need it soon: it is in use, though idle. */
  readonly isListenedTo: boolean;
  /** Stops it, because another needs its place or it was idle for too long. */
  evict(): void;
}

/** Limits of the number of processes. */
interface PoolLimits {
  total: number;
  perAccount: number;
}

/** Minimum idle time of another account's process until it is evicted, in milliseconds. */
const othersRestMs = 60_000;

/**
 * Limits the number of processes of a backend, for each account and in total (T-158). If there is no place, the process that
 * was idle longest is evicted: one of the same account, or one that was idle for a minute.
 */
export class ProcessPool {
  readonly #name: string;
  readonly #limits: PoolLimits;
  readonly #nowMs: () => number;
  readonly #taken = new Set<PooledProcess>();

  /** @param name name of the backend, for errors */
  constructor(name: string, limits: PoolLimits, nowMs: () => number) {
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
   * @returns the error for the caller if there is none
   */
  take(pooled: PooledProcess): JsonRpcError | undefined {
    const { total, perAccount } = this.#limits;
    const own = [...this.#taken].filter(({ account }) => account === pooled.account);
    if (own.length >= perAccount && !this.#makeRoom(own)) return this.#none(perAccount, 'of your account ');
    if (this.#taken.size >= total && !this.#makeRoom(own) && !this.#makeRoom(this.#restingOthers()))
      return this.#none(total, '');
    this.#taken.add(pooled);
    return undefined;
  }

  /** Frees a place. */
  leave(pooled: PooledProcess): void {
    this.#taken.delete(pooled);
  }

  /** Evicts the processes that were idle for some milliseconds and are not listened to. */
  endIdle(idleMs: number): void {
    const before = this.#nowMs() - idleMs;
    for (const pooled of [...this.#taken]) {
      const { idleSinceMs, isListenedTo } = pooled;
      if (idleSinceMs === undefined || idleSinceMs > before || isListenedTo) continue;
      this.#taken.delete(pooled);
      pooled.evict();
    }
  }

  #restingOthers(): PooledProcess[] {
    const before = this.#nowMs() - othersRestMs;
    return [...this.#taken].filter(({ idleSinceMs }) => idleSinceMs !== undefined && idleSinceMs <= before);
  }

  #makeRoom(candidates: readonly PooledProcess[]): boolean {
    const [longest] = candidates
      .filter(({ idleSinceMs }) => idleSinceMs !== undefined)
      .sort((one, other) => (one.idleSinceMs ?? 0) - (other.idleSinceMs ?? 0));
    if (!longest) return false;
    this.#taken.delete(longest);
    longest.evict();
    return true;
  }

  #none(limit: number, whose: string): JsonRpcError {
    const busy =
      limit === 1
        ? `The one process ${whose}for the MCP server ${this.#name} is busy. Try again when its call has ended.`
        : `All ${limit} processes ${whose}for the MCP server ${this.#name} are busy. Try again when a call of theirs has ended.`;
    return { code: -32000, message: busy, data: ownData({ reason: 'backend_processes_exhausted' }) };
  }
}
