import type { Context } from 'koa';
import type { Storage } from '../storage/storage.ts';

/**
 * Answers a liveness probe: 200, or 503 if a database on this machine cannot be read. A node that waits for PostgreSQL
 * lives. Reveals nothing else (T-113).
 */
export async function answerHealth(ctx: Context, storage: Pick<Storage, 'ping'>): Promise<void> {
  ctx.set('Cache-Control', 'no-store');
  try {
    await storage.ping();
    ctx.body = { status: 'ok' };
  } catch {
    ctx.status = 503;
    ctx.body = { status: 'unavailable' };
  }
}

/** Options of {@link createReadiness}. */
export interface ReadinessOptions {
  storage: Pick<Storage, 'probeWrite'>;
  /** True as soon as the server was told to stop. */
  isStopping: () => boolean;
  /** Milliseconds, of a monotonic clock. */
  nowMs?: () => number;
}

/** Time that a result of the database is reused, in milliseconds: many probes cost one write a second. */
const keptMs = 1000;

/** Maximum time of a probe, in milliseconds: a network that drops packets silently gives no answer. */
const probeMs = 5_000;

/**
 * Creates the middleware for readiness probes: 200, or 503 while the server stops or the database takes no writes. Reveals
 * nothing else (T-113). Liveness is different: a full disk is no reason to restart a process.
 */
export function createReadiness({ storage, isStopping, nowMs = () => performance.now() }: ReadinessOptions) {
  let probed: { at: number; writable: Promise<boolean> } | undefined;

  function isWritable(): Promise<boolean> {
    if (probed && nowMs() - probed.at < keptMs) return probed.writable;
    const writable = new Promise<boolean>((resolve) => {
      const late = setTimeout(() => resolve(false), probeMs);
      storage
        .probeWrite()
        .then(
          () => resolve(true),
          () => resolve(false),
        )
        .finally(() => clearTimeout(late));
    });
    probed = { at: nowMs(), writable };
    return writable;
  }

  return async (ctx: Context): Promise<void> => {
    ctx.set('Cache-Control', 'no-store');
    const isReady = !isStopping() && (await isWritable());
    ctx.status = isReady ? 200 : 503;
    ctx.body = { status: isReady ? 'ready' : isStopping() ? 'stopping' : 'unavailable' };
  };
}
