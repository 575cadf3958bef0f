import type { Context, Next } from 'koa';
import type { Limiter } from '../limits.ts';
import { answerWithOAuthError } from './oauth-answer.ts';

/** A step of an endpoint: answers, or hands on to the next. */
export type Step = (ctx: Context, next: Next) => Promise<void>;

/** A page without an origin (a sandboxed frame, a local file) is nobody in particular (T-039). */
export const refuseOpaqueOrigin: Step = async (ctx, next) => {
  if (ctx.get('Origin') !== 'null') return next();
  ctx.vary('Origin');
  answerWithOAuthError(ctx, 400, 'invalid_request', 'pages without an origin may not call this endpoint');
};

/** Nothing here is for a cache (RFC 6749 section 5.1). */
export const neverStore: Step = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  await next();
};

/** Every 401 names the scheme (RFC 9110 section 15.5.2); the engine does so only where the client used it (T-047). */
export function nameScheme(issuer: string): Step {
  return async (ctx, next) => {
    await next();
    if (ctx.status === 401 && !ctx.response.get('WWW-Authenticate'))
      ctx.set('WWW-Authenticate', `Basic realm="${issuer}", error="invalid_client"`);
  };
}

/** Counts every request of an address (T-061). */
export function limitRequests(limiter: Limiter, what: string): Step {
  return async (ctx, next) => {
    const wait = await limiter.take(String(ctx.state.clientAddress));
    if (wait > 0) return slowDown(ctx, wait, `too many ${what} from this address`);
    await next();
  };
}

/** The OAuth error of an answer; undefined where it is none. @param ctx with the answer */
export function errorOf(ctx: Context): string | undefined {
  if (ctx.status !== 400 && ctx.status !== 401) return undefined;
  return String((ctx.body as { error?: unknown } | null)?.error);
}

/**
 * Counts the requests of an address that were refused: guessing is slow, working clients are not (T-055). A device that
 * polls at its pace is a working client (RFC 8628 section 3.5).
 */
export function limitFailures(limiter: Limiter, what: string): Step {
  return async (ctx, next) => {
    const address = String(ctx.state.clientAddress);
    const wait = await limiter.wait(address);
    if (wait > 0) return slowDown(ctx, wait, `too many failed ${what} from this address`);
    await next();
    if (![undefined, 'authorization_pending'].includes(errorOf(ctx))) await limiter.take(address);
  };
}

/** Lets any page read the answer: it says how long to wait, and uses no cookies. */
function slowDown(ctx: Context, seconds: number, reason: string): void {
  ctx.set('Retry-After', String(seconds));
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', 'Retry-After');
  answerWithOAuthError(ctx, 429, 'temporarily_unavailable', `${reason}; try again in ${seconds} seconds`);
}
