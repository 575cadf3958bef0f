import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';
import { loggable } from '../observability/loggable.ts';
import type { Logger } from '../observability/logger.ts';
import { parseTraceContext } from '../observability/trace-context.ts';

/** Logged status of a request whose client disconnected before the response, as many servers log it. */
const clientGone = 499;

/** Options of {@link nameRequests}. */
export interface RequestLogOptions {
  logger: Logger;
  /** Checks if a path is for programs. Their successful requests are logged at `debug` only. */
  isForPrograms: (path: string) => boolean;
  /** Counts a request that was answered or broke off; `ms` is its duration. */
  count: (path: string, status: number, ms: number) => void;
}

/**
 * Middleware: gives each request an id, sends it in `X-Request-Id`, and logs and counts the request when it is answered.
 * The query is never logged: it may contain a code.
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
      // Koa's default status before any response is not a status that was sent.
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
        ...traceOfRequest(ctx),
      });
    });
    return next();
  };
}

/** Returns the trace of a request: the one that the MCP endpoint has found, or that of the headers. */
function traceOfRequest({ req, state }: Context): { traceId: string; spanId: string } | undefined {
  const { traceparent, tracestate } = req.headers;
  const found: { traceId: string; spanId: string } | undefined =
    state.trace ?? (traceparent === undefined ? undefined : parseTraceContext(traceparent, tracestate));
  return found && { traceId: found.traceId, spanId: found.spanId };
}

/**
 * Creates the function that maps paths to the route labels of metrics: the whole path of an MCP server, the first segment
 * of any other served path, and `other` for the rest, so that a scan does not create new series.
 * @param base path of the public URL, empty for none
 * @param served served paths, below the base or at the origin
 * @param isServerPath checks if an MCP server is at a path below the base
 */
export function createRouteNames(
  base: string,
  served: readonly string[],
  isServerPath: (path: string) => boolean,
): (path: string) => string {
  const known = new Set(served.map(firstSegment));
  return (path) => {
    const own = base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path;
    const bare = own.endsWith('/') ? own.slice(0, -1) : own;
    if (isServerPath(bare)) return bare;
    const route = firstSegment(own);
    return known.has(route) ? route : 'other';
  };
}

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1);
  return end === -1 ? path : path.slice(0, end);
}
