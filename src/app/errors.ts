import type { Context, Next } from 'koa';
import type { Logger } from '../observability/logger.ts';
import { StorageUnavailable } from '../storage/storage.ts';

/** An error that Koa or a middleware meant for the client. */
interface Exposed {
  status: number;
  expose: true;
  message: string;
}

function isExposed(error: unknown): error is Exposed {
  const { status, expose } = error as Partial<Exposed>;
  return expose === true && typeof status === 'number' && status >= 400 && status < 500;
}

/**
 * Middleware: the only place where an error becomes a response. What was meant for the client is told to it; of
 * everything else it learns that it happened and under which id, and the log gets the rest (T-196, T-199).
 */
export function answerErrors(logger: Logger) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      ctx.remove('Location');
      ctx.set('Cache-Control', 'no-store');
      if (isExposed(error)) {
        ctx.status = error.status;
        ctx.body = { error: 'invalid_request', error_description: error.message };
      } else if (error instanceof StorageUnavailable) {
        logger.error(
          { requestId: ctx.state.requestId, err: error, cause: error.cause },
          'the database is unavailable',
        );
        ctx.status = 503;
        ctx.set('Retry-After', '2');
        ctx.body = {
          error: 'temporarily_unavailable',
          error_description: 'The server cannot store anything at the moment. Try again in a few seconds.',
        };
      } else {
        logger.error({ requestId: ctx.state.requestId, err: error }, 'a request failed');
        ctx.status = 500;
        ctx.body = {
          error: 'server_error',
          error_description: `The server failed. Its log has the reason under request ${ctx.state.requestId}.`,
        };
      }
    }
  };
}

/** Last in the list: no path of ours. JSON, because discovery probes come by here. */
export function answerNotFound(ctx: Context): void {
  ctx.status = 404;
  ctx.body = { error: 'not_found', error_description: 'There is nothing at this path.' };
}
