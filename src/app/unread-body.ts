import type { Context, Next } from 'koa';
import type { Logger } from '../observability/logger.ts';

const description =
  'The body of this request was read before the gatehouse got it. Whoever built this server has to put the gatehouse in front of what reads bodies, such as express.json().';

/**
 * Middleware: answers requests whose body something in front has read. Nothing behind could read it, and would take the
 * request for one without a body. A front may look at a body and put it back (`unshift`).
 * @param logger is told once
 */
export function requireUnreadBody(logger: Pick<Logger, 'error'>) {
  let isLogged = false;
  return (ctx: Context, next: Next): Promise<void> | void => {
    if (!ctx.req.readableEnded || !hasBody(ctx)) return next();
    if (!isLogged) logger.error({ path: ctx.path }, description);
    isLogged = true;
    ctx.status = 500;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { error: 'server_error', error_description: description };
  };
}

/** @see RFC 9112 section 6 */
function hasBody({ req }: Context): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length']) > 0;
}
