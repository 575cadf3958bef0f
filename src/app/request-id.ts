import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';
import type { Logger } from '../observability/logger.ts';
import { loggable } from '../observability/logger.ts';

/** Middleware: names each request, tells the client the name, and logs one line when it is answered. The query never goes into the log: it may hold a code. */
export function nameRequests(logger: Logger) {
  return (ctx: Context, next: Next): Promise<void> => {
    const started = performance.now();
    const requestId = randomUUID();
    ctx.state.requestId = requestId;
    ctx.set('X-Request-Id', requestId);
    const path = ctx.path;
    ctx.res.once('close', () => {
      logger.info({
        requestId,
        method: ctx.method,
        path: loggable(path),
        status: ctx.res.statusCode,
        finished: ctx.res.writableFinished,
        ms: Math.round((performance.now() - started) * 10) / 10,
        address: ctx.state.clientAddress,
      });
    });
    return next();
  };
}
