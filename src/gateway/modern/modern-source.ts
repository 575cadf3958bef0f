import type { ServerSource } from '../../mcp/server-source.ts';
import { Discoveries } from './discoveries.ts';
import { EraServer } from './era-server.ts';
import { Eras } from './eras.ts';
import { createModernBackend } from './modern-backend.ts';
import type { FailureDetail, ModernLink } from './modern-link.ts';

/** What a source of servers of any era is made of. */
export interface ModernSourceOptions {
  /** Gives what speaks the revisions up to 2025-11-25 with the server. */
  legacy: ServerSource;
  /** The way to it in 2026-07-28. */
  link: ModernLink;
  /** Takes note of an answer. */
  worked(): void;
  /** Takes note of a request that was not answered. */
  noteFailure(detail: FailureDetail): void;
  /** How long it may take to answer whether it speaks 2026-07-28, in milliseconds; ten seconds by default. */
  probeMs?: number;
  /** See `ErasOptions`. */
  patienceMs?: number;
  believedMs?: number;
  /** Whether callers of 2026-07-28 are served in the older revisions, where the server speaks both. */
  prefersLegacy?: boolean;
  nowMs?: () => number;
}

/**
 * Creates the source of a server that may speak the older revisions, 2026-07-28 or both: each caller is served in its
 * own era where the server speaks it, and by translation where it does not.
 * @see MCP 2026-07-28 "Versioning" (B1-09, B5-15, B5-16, C4-06)
 */
export function createModernSource(options: ModernSourceOptions): ServerSource {
  const { legacy, link, worked, noteFailure, probeMs = 10_000, nowMs = () => performance.now() } = options;
  const { patienceMs, believedMs, prefersLegacy = false } = options;
  const discoveries = new Discoveries(nowMs);
  const eras = new Eras({
    ...{ link, discoveries, probeMs, nowMs },
    ...(patienceMs !== undefined && { patienceMs }),
    ...(believedMs !== undefined && { believedMs }),
  });
  const modern = createModernBackend({
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
      return new EraServer({ eras, makeLegacy: () => legacy.create(context), modern, authInfo });
    },
    async modern(caller) {
      if (prefersLegacy && eras.speaksLegacy !== false) return undefined;
      return (await eras.speaksModern(caller)) ? modern : undefined;
    },
  };
}
