import type { McpLike, ServerContext, ServerSource } from '../../mcp/protocol.ts';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { EraServer } from './era-server.ts';
import { Discoveries, Eras } from './eras.ts';
import { createModernBackend } from './modern-backend.ts';
import type { FailureDetail, ModernLink } from './modern-link.ts';

/** Results of the detection that the start of an older server needs. */
export interface LegacyStart {
  /** Returns the remaining time for the start, in milliseconds. */
  startMs(): number;
  /** Takes note that the server has said only now, in its response to `server/discover`, that it speaks 2026-07-28. */
  saidModern(): void;
}

/** Source of servers of the revisions up to 2025-11-25. */
export interface LegacySource extends Pick<ServerSource, 'sharing'> {
  create(context: ServerContext, start: LegacyStart): McpLike | Promise<McpLike>;
}

/** Options of the source of servers of any era. */
interface ModernSourceOptions {
  /** Name of the backend. */
  name: string;
  legacy: LegacySource;
  /** Link to the server in 2026-07-28. */
  link: ModernLink;
  /** Takes note of a response. */
  worked(): void;
  /** Takes note of a request without a response. */
  noteFailure(detail: FailureDetail): void;
  /**
   * Maximum time for the response to `initialize` or `server/discover`, in milliseconds; earlier waits of the caller
   * count.
   */
  startMs: number;
  /** Maximum time for the detection of 2026-07-28, in milliseconds; a fifth of `startMs` by default. */
  probeMs?: number;
  /** See `ErasOptions`. */
  patienceMs?: number;
  believedMs?: number;
  /** True if callers of 2026-07-28 are served in the older revisions if the server speaks both. */
  prefersLegacy?: boolean;
  /** True if the server learns who calls: nothing it answers is shared by callers. */
  isPersonal?: boolean;
  nowMs?: () => number;
}

/**
 * Creates the source of a server that may speak the older revisions, 2026-07-28 or both. Each caller is served in its
 * own era if the server speaks it, and by translation otherwise.
 * @see MCP 2026-07-28 "Versioning" (B1-09, B5-15, B5-16, C4-06)
 */
export function createModernSource(options: ModernSourceOptions): ServerSource {
  const { name, legacy, link, worked, noteFailure, startMs, nowMs = () => performance.now() } = options;
  const { probeMs = startMs / 5 } = options;
  const { patienceMs, believedMs, prefersLegacy = false, isPersonal = false } = options;
  const discoveries = new Discoveries(nowMs, isPersonal);
  const eras = new Eras({
    ...{ link, discoveries, probeMs, nowMs },
    ...(patienceMs !== undefined && { patienceMs }),
    ...(believedMs !== undefined && { believedMs }),
  });
  const budget = new StartBudget(startMs, nowMs);
  const modern = createModernBackend({
    name,
    startMs,
    link,
    discoveries,
    doubted: (caller) => eras.doubt(caller),
    worked,
    noteFailure,
  });
  return {
    sharing: legacy.sharing,
    create(context) {
      const { authInfo } = context;
      let waitsUntilMs = Number.POSITIVE_INFINITY;
      const start: LegacyStart = {
        startMs() {
          const startMs = budget.takeMs(authInfo);
          waitsUntilMs = nowMs() + startMs;
          return startMs;
        },
        saidModern: () => eras.heardModern(),
      };
      return new EraServer({
        eras,
        makeLegacy: () => legacy.create(context, start),
        leftMs: () => Math.max(0, waitsUntilMs - nowMs()),
        modern,
        authInfo,
        answered: () => authInfo && budget.answered(authInfo),
      });
    },
    async modern(caller) {
      if (prefersLegacy && eras.speaksLegacy !== false) return undefined;
      if (eras.known !== undefined) return eras.known ? modern : undefined;
      const sinceMs = nowMs();
      if (await eras.speaksModern(caller)) return modern;
      budget.waited(caller.authInfo, sinceMs);
      return undefined;
    },
  };
}

/** Waits that end within this time were for the same event, in milliseconds. */
const sameWaitMs = 1000;

/**
 * Limits the time of a server's start for each caller, including the wait for the detection of eras. So callers get an
 * error before their clients give up, which do so after 60 s.
 */
export class StartBudget {
  readonly #wholeMs: number;
  readonly #nowMs: () => number;
  /** Waiting time of each principal, and the time of its record. */
  readonly #waited = new Map<string, { forMs: number; atMs: number }>();

  /** @param wholeMs maximum time of a start for a caller that has not waited, in milliseconds */
  constructor(wholeMs: number, nowMs: () => number) {
    this.#wholeMs = wholeMs;
    this.#nowMs = nowMs;
  }

  /** Takes note of a wait of a caller. Of several requests that waited for the same event, the longest wait counts. */
  waited(caller: AuthInfo, sinceMs: number): void {
    this.#forget();
    const [key, atMs] = [principalKey(caller), this.#nowMs()];
    const known = this.#waited.get(key);
    const isSame = known !== undefined && atMs - known.atMs < sameWaitMs;
    this.#waited.delete(key);
    const forMs = atMs - sinceMs;
    this.#waited.set(key, { forMs: isSame ? Math.max(known.forMs, forMs) : forMs, atMs });
  }

  /** Takes note that a caller got a response. */
  answered(caller: AuthInfo): void {
    this.#waited.delete(principalKey(caller));
  }

  /**
   * Returns the maximum time of a start, in milliseconds. An earlier wait counts for one start only.
   * @param caller undefined if the start is for everybody
   */
  takeMs(caller: AuthInfo | undefined): number {
    this.#forget();
    const key = caller && principalKey(caller);
    const waited = key === undefined ? undefined : this.#waited.get(key);
    if (key === undefined || waited === undefined) return this.#wholeMs;
    this.#waited.delete(key);
    return Math.max(0, Math.round(this.#wholeMs - waited.forMs));
  }

  /** Forgets the waits of callers that have not started anything for the time of a start. */
  #forget(): void {
    const before = this.#nowMs() - this.#wholeMs;
    for (const [key, { atMs }] of this.#waited) {
      if (atMs > before) break;
      this.#waited.delete(key);
    }
  }
}
