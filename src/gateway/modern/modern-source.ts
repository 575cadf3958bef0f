import type { McpLike, ServerContext, ServerSource } from '../../mcp/protocol.ts';
import { Discoveries } from './discoveries.ts';
import { EraServer } from './era-server.ts';
import { Eras } from './eras.ts';
import { createModernBackend } from './modern-backend.ts';
import type { FailureDetail, ModernLink } from './modern-link.ts';
import { StartBudget } from './start-budget.ts';

/** Knowledge from the detection for the start of a server of the older revisions. */
export interface LegacyStart {
  /** Returns the milliseconds that the start may still take. */
  startMs(): number;
  /** The server has said only now, in answer to `server/discover`, that it speaks 2026-07-28. */
  saidModern(): void;
}

/** Returns what speaks the revisions up to 2025-11-25 with a server. */
export interface LegacySource extends Pick<ServerSource, 'sharing'> {
  create(context: ServerContext, start: LegacyStart): McpLike | Promise<McpLike>;
}

/** Parts of the source of servers of any era. */
export interface ModernSourceOptions {
  /** Name of the backend. */
  name: string;
  legacy: LegacySource;
  /** The way to it in 2026-07-28. */
  link: ModernLink;
  /** Takes note of an answer. */
  worked(): void;
  /** Takes note of a request that was not answered. */
  noteFailure(detail: FailureDetail): void;
  /**
   * Milliseconds that the response to `initialize` or `server/discover` may take; earlier waits of its caller count.
   */
  startMs: number;
  /** Milliseconds that the detection of 2026-07-28 may take; a fifth of `startMs` by default. */
  probeMs?: number;
  /** See `ErasOptions`. */
  patienceMs?: number;
  believedMs?: number;
  /** True if callers of 2026-07-28 are served in the older revisions although the server speaks both. */
  prefersLegacy?: boolean;
  nowMs?: () => number;
}

/**
 * Creates the source of a server that may speak the older revisions, 2026-07-28 or both: each caller is served in its
 * own era if the server speaks it, and by translation if it does not.
 * @see MCP 2026-07-28 "Versioning" (B1-09, B5-15, B5-16, C4-06)
 */
export function createModernSource(options: ModernSourceOptions): ServerSource {
  const { name, legacy, link, worked, noteFailure, startMs, nowMs = () => performance.now() } = options;
  const { probeMs = startMs / 5 } = options;
  const { patienceMs, believedMs, prefersLegacy = false } = options;
  const discoveries = new Discoveries(nowMs);
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
