import type { Context } from 'koa';
import type { AnswerTarget } from '../views/answer-target.ts';
import { contentSecurityPolicy, pageHeaders } from '../views/content-security-policy.ts';

/**
 * Sends a page of ours, with the headers every page has (T-017).
 * @param answer where a form on it may lead in the end; Chromium holds redirects to the form policy
 * @param scriptSource see {@link contentSecurityPolicy}
 * @param goesThrough what a form on it may lead through before that
 */
export function showPage(
  ctx: Context,
  page: string,
  answer?: AnswerTarget,
  scriptSource?: string,
  goesThrough: readonly string[] = [],
): void {
  const redirectUris = answer && 'redirectUri' in answer ? [answer.redirectUri] : [];
  ctx.set(pageHeaders);
  ctx.set('Content-Security-Policy', contentSecurityPolicy([...redirectUris, ...goesThrough], scriptSource));
  if (ctx.status === 404) ctx.status = 200;
  ctx.type = 'html';
  ctx.body = page;
}
