import type { Context, Next } from 'koa';
import { TokenStatusUnknown } from '../oauth/auth-info.ts';
import type { Logger } from '../observability/logger.ts';
import { StorageUnavailable } from '../storage/storage.ts';
import { type Page, sendPage, wantsPage } from './page.ts';

/** An error of Koa or a middleware with a message for the client. */
interface Exposed {
  status: number;
  expose: true;
  message: string;
}

function isExposed(error: unknown): error is Exposed {
  const { status, expose } = error as Partial<Exposed>;
  return expose === true && typeof status === 'number' && status >= 400 && status < 500;
}

/** A server error, as the client sees it. */
interface Failure {
  status: 500 | 503;
  code: 'server_error' | 'temporarily_unavailable';
  description: string;
  /** Log message. */
  summary: string;
  /** `Retry-After`, in seconds. */
  retryAfterSeconds?: number;
}

/** Options of the error middleware. */
export interface ErrorOptions {
  logger: Logger;
  /** Renders the error page for browsers. */
  renderErrorPage: (failure: {
    status: number;
    code: string;
    requestId: string;
    acceptLanguage: string;
  }) => Page;
  /** Checks if a path is for programs, whatever they accept. */
  isForPrograms: (path: string) => boolean;
}

/** `Retry-After` while the database is unavailable, in seconds. */
const databaseWaitSeconds = 2;

function nameFailure(error: unknown, requestId: string): Failure {
  if (error instanceof StorageUnavailable)
    return {
      status: 503,
      code: 'temporarily_unavailable',
      description: 'The server cannot store data at the moment. Try again in a few seconds.',
      summary: 'the database is unavailable',
      retryAfterSeconds: databaseWaitSeconds,
    };
  if (error instanceof TokenStatusUnknown)
    return {
      status: 503,
      code: 'temporarily_unavailable',
      description: error.message,
      summary: 'the state of a token cannot be checked at the moment',
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
 * Middleware: the only place where an error becomes a response. An error meant for the client is sent to it. For any other
 * error the client gets the request id only, and the log the rest (T-196, T-199). A browser gets a page, any other client
 * JSON. A redirect or cookie that was set before is dropped.
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
 * Middleware, last in the list: 404. A browser gets a page; other clients, and discovery probes whatever they accept, get
 * JSON.
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

const bodyReadDescription =
  'The body of this request was read before it reached the gatehouse. The developer of this server must put the gatehouse before middleware that reads bodies, such as express.json().';

/**
 * Middleware: rejects requests whose body was already read by middleware in front: the body cannot be read again, and the
 * request would seem to have none. Middleware in front may read a body and put it back (`unshift`).
 * @param logger logs this once
 */
export function requireUnreadBody(logger: Pick<Logger, 'error'>) {
  let isLogged = false;
  return (ctx: Context, next: Next): Promise<void> | void => {
    if (!ctx.req.readableEnded || !hasBody(ctx)) return next();
    if (!isLogged) logger.error({ path: ctx.path }, bodyReadDescription);
    isLogged = true;
    ctx.status = 500;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { error: 'server_error', error_description: bodyReadDescription };
  };
}

/** @see RFC 9112 section 6 */
function hasBody({ req }: Context): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length']) > 0;
}
