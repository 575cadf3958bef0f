import type { Context } from 'koa';
import type { Storage } from '../storage/storage.ts';

/** What readiness depends on. */
export interface ReadinessOptions {
  storage: Pick<Storage, 'probeWrite'>;
  /** Whether the server was told to stop. */
  isStopping: () => boolean;
  /** Milliseconds, of a clock that never goes back. */
  nowMs?: () => number;
}

/** How long an answer of the database counts: probes of many load balancers cost one write a second. */
const keptMs = 1000;

/**
 * Creates the answer to readiness probes: 200 while this process should get requests, which is while it is not
 * stopping and the database takes writes; 503 otherwise. Tells nothing else (T-113). Liveness is another question: a
 * full disk is no reason to restart a process.
 */
export function createReadiness({ storage, isStopping, nowMs = () => performance.now() }: ReadinessOptions) {
  let asked: { at: number; writable: Promise<boolean> } | undefined;

  function isWritable(): Promise<boolean> {
    if (asked && nowMs() - asked.at < keptMs) return asked.writable;
    const writable = storage.probeWrite().then(
      () => true,
      () => false,
    );
    asked = { at: nowMs(), writable };
    return writable;
  }

  return async (ctx: Context): Promise<void> => {
    ctx.set('Cache-Control', 'no-store');
    const isReady = !isStopping() && (await isWritable());
    ctx.status = isReady ? 200 : 503;
    ctx.body = { status: isReady ? 'ready' : isStopping() ? 'stopping' : 'unavailable' };
  };
}
