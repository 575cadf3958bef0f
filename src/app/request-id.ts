import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';
import type { Logger } from '../observability/logger.ts';
import { loggable } from '../observability/logger.ts';

/**
 * Middleware: names each request, tells the client the name, and logs one line when it is answered. The query never
 * goes into the log: it may hold a code. Calls of programs that went well are many and go in at `debug`.
 * @param programPaths paths whose successes are not worth a line
 */
export function nameRequests(logger: Logger, programPaths: readonly string[]) {
  const quiet = new Set(programPaths);
  const logsAll = logger.isLevelEnabled('debug');

  return (ctx: Context, next: Next): Promise<void> => {
    const requestId = randomUUID();
    ctx.state.requestId = requestId;
    ctx.set('X-Request-Id', requestId);
    const { path } = ctx;
    const isQuiet = quiet.has(path);
    const started = performance.now();
    ctx.res.once('close', () => {
      const { statusCode: status, writableFinished: finished } = ctx.res;
      const level = isQuiet && status < 400 ? 'debug' : 'info';
      if (level === 'debug' && !logsAll) return;
      logger[level]({
        requestId,
        method: ctx.method,
        path: loggable(path),
        status,
        finished,
        ms: Math.round((performance.now() - started) * 10) / 10,
        address: ctx.state.clientAddress,
      });
    });
    return next();
  };
}
