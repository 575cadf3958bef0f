import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';
import type { Logger } from '../observability/logger.ts';
import { loggable } from '../observability/logger.ts';

/** What stands for the status of a request whose client went away before it was answered, as many servers log it. */
const clientGone = 499;

/** What becomes of requests. */
export interface RequestLogOptions {
  logger: Logger;
  /** Whether a path is for programs: its successes are not worth a line. */
  isForPrograms: (path: string) => boolean;
  /** Counts a request that was answered or broke off; `ms` is how long it took. */
  count: (path: string, status: number, ms: number) => void;
}

/**
 * Middleware: names each request, tells the client the name, and logs one line and counts it when it is answered. The query never
 * goes into the log: it may hold a code. Calls of programs that went well are many and go in at `debug`.
 */
export function nameRequests({ logger, isForPrograms, count }: RequestLogOptions) {
  const logsAll = logger.isLevelEnabled('debug');

  return (ctx: Context, next: Next): Promise<void> => {
    const requestId = randomUUID();
    ctx.state.requestId = requestId;
    ctx.res.setHeader('X-Request-Id', requestId);
    const { path } = ctx;
    const isQuiet = isForPrograms(path);
    const started = performance.now();
    ctx.res.on('close', () => {
      const { headersSent, statusCode, writableFinished: finished } = ctx.res;
      // What Koa has put there before anybody answered is no status that was sent.
      const status = headersSent ? statusCode : clientGone;
      const ms = performance.now() - started;
      count(path, status, ms);
      const level = isQuiet && status < 400 ? 'debug' : 'info';
      if (level === 'debug' && !logsAll) return;
      logger[level]({
        requestId,
        method: ctx.method,
        path: loggable(path),
        status,
        finished,
        ms: Math.round(ms * 10) / 10,
        address: ctx.state.clientAddress,
      });
    });
    return next();
  };
}
