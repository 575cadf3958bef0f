import type { Context } from 'koa';
import type { Storage } from '../storage/storage.ts';

/** Answers a health check: 200 while requests can be served, 503 while the database cannot be read. Tells nothing else (T-113). */
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
