import type { Caller } from '../../mcp/protocol.ts';
import { principalKey } from '../../oauth/auth-info.ts';

/** Longest time a result is kept, whatever its server says, in milliseconds. */
const longestMs = 3_600_000;

/** Most principals whose results are kept. */
const maxKept = 1000;

const everybody = '';

/**
 * Cache of the responses to `server/discover`, as long as the server allows: for everybody, or for the one principal
 * that asked.
 * @see MCP 2026-07-28 "Caching" (C3-03, C6-07, C6-08)
 */
export class Discoveries {
  readonly #nowMs: () => number;
  readonly #kept = new Map<string, { result: Record<string, unknown>; until: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns what may still be used for a caller, with the time that is left. */
  find({ authInfo }: Caller): Record<string, unknown> | undefined {
    for (const key of [everybody, principalKey(authInfo)]) {
      const kept = this.#kept.get(key);
      const ttlMs = Math.floor((kept?.until ?? 0) - this.#nowMs());
      if (kept && ttlMs > 0) return { ...kept.result, ttlMs };
    }
    return undefined;
  }

  /** Keeps a result, as far as it says so. */
  keep({ authInfo }: Caller, result: Record<string, unknown>): void {
    const { ttlMs, cacheScope } = result;
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
    const key = cacheScope === 'public' ? everybody : principalKey(authInfo);
    this.#kept.delete(key);
    this.#kept.set(key, { result, until: this.#nowMs() + Math.min(ttlMs, longestMs) });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Forgets all. */
  clear(): void {
    this.#kept.clear();
  }
}
