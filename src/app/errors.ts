import type { Context, Next } from 'koa';
import { TokenStatusUnknown } from '../oauth/auth-info.ts';
import type { Logger } from '../observability/logger.ts';
import { StorageUnavailable } from '../storage/storage.ts';
import { type Page, sendPage, wantsPage } from './page.ts';

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

/** A failure of ours, by the name it has on the wire. */
interface Failure {
  status: 500 | 503;
  code: 'server_error' | 'temporarily_unavailable';
  description: string;
  /** What the log says of it. */
  summary: string;
  /** How long a client should wait before it tries again, in seconds. */
  retryAfterSeconds?: number;
}

/** What the error step is made of. */
export interface ErrorOptions {
  logger: Logger;
  /** Gives the page for a person whose browser met a failure. */
  renderErrorPage: (failure: {
    status: number;
    code: string;
    requestId: string;
    acceptLanguage: string;
  }) => Page;
  /** Whether a path is for programs, whatever they accept. */
  isForPrograms: (path: string) => boolean;
}

/** How long a client should wait before it tries the database again, in seconds. */
const databaseWaitSeconds = 2;

function nameFailure(error: unknown, requestId: string): Failure {
  if (error instanceof StorageUnavailable)
    return {
      status: 503,
      code: 'temporarily_unavailable',
      description: 'The server cannot store anything at the moment. Try again in a few seconds.',
      summary: 'the database is unavailable',
      retryAfterSeconds: databaseWaitSeconds,
    };
  if (error instanceof TokenStatusUnknown)
    return {
      status: 503,
      code: 'temporarily_unavailable',
      description: error.message,
      summary: 'nobody can tell at the moment whether a token stands',
      retryAfterSeconds: error.retryAfterSeconds,
    };
  return {
    status: 500,
    code: 'server_error',
    description: `The server failed. Its log has the reason under request ${requestId}.`,
    summary: 'a request failed',
  };
}

/**
 * Middleware: the only place where an error becomes a response. What was meant for the client is told to it; of
 * everything else it learns that it happened and under which id, and the log gets the rest (T-196, T-199). A browser
 * gets a page, every other client JSON. Nothing that was prepared before goes out: no redirect, no cookie.
 */
export function answerErrors({ logger, renderErrorPage, isForPrograms }: ErrorOptions) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      ctx.remove('Location');
      ctx.remove('Set-Cookie');
      ctx.set('Cache-Control', 'no-store');
      if (isExposed(error)) {
        ctx.status = error.status;
        ctx.body = { error: 'invalid_request', error_description: error.message };
        return;
      }
      const requestId = String(ctx.state.requestId);
      const { status, code, description, summary, retryAfterSeconds } = nameFailure(error, requestId);
      const cause = status === 503 ? { cause: (error as Error).cause } : undefined;
      logger.error({ requestId, err: error, ...cause }, summary);
      ctx.status = status;
      if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(retryAfterSeconds));
      if (!isForPrograms(ctx.path) && wantsPage(ctx))
        sendPage(
          ctx,
          renderErrorPage({ status, code, requestId, acceptLanguage: ctx.get('Accept-Language') }),
        );
      else ctx.body = { error: code, error_description: description };
    }
  };
}

/**
 * Middleware, last in the list: no path of ours. A browser that opens it gets a page; JSON is for everybody else, and for
 * discovery probes whatever they accept.
 */
export function answerNotFound({ renderErrorPage, isForPrograms }: Omit<ErrorOptions, 'logger'>) {
  return (ctx: Context): void => {
    ctx.status = 404;
    const isOpened = ctx.method === 'GET' || ctx.method === 'HEAD';
    const isProbe = isForPrograms(ctx.path) || ctx.path.includes('/.well-known/');
    if (isOpened && !isProbe && wantsPage(ctx)) {
      const requestId = String(ctx.state.requestId);
      const acceptLanguage = ctx.get('Accept-Language');
      sendPage(ctx, renderErrorPage({ status: 404, code: 'not_found', requestId, acceptLanguage }));
      return;
    }
    ctx.body = { error: 'not_found', error_description: 'There is nothing at this path.' };
  };
}
