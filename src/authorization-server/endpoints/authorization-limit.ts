import type { Context, Next } from 'koa';
import { createLimiter, type Limit } from '../limits.ts';
import { answerWithErrorPage } from './error-page.ts';

/**
 * Middleware in front of the authorization endpoint: anybody may begin an authorization, and each one begun is kept
 * until its page expires, so an address begins so many and no more (T-061; RFC 6749 section 4.1.2.1 names the error).
 * @param limit requests of an address; beyond it the answer is a page with 429 and `Retry-After`
 */
export function limitAuthorizations(limit: Limit) {
  const begun = createLimiter(limit);
  return async (ctx: Context, next: Next): Promise<void> => {
    const wait = await begun.take(String(ctx.state.clientAddress));
    if (wait === 0) return next();
    ctx.set('Retry-After', String(wait));
    const description = `too many authorization requests from this address; try again in ${wait} seconds`;
    answerWithErrorPage(
      ctx,
      429,
      { code: 'temporarily_unavailable', description },
      { explanation: 'too_many_requests', waitSeconds: wait },
    );
  };
}
