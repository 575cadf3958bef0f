import type { Context } from 'koa';

/**
 * Answers with an OAuth error (RFC 6749 section 5.2): JSON, never stored.
 * @param error the standard's code
 * @param description a sentence in ASCII, for developers
 */
export function answerWithOAuthError(ctx: Context, status: number, error: string, description: string): void {
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  ctx.body = { error, error_description: description };
}
