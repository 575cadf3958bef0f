import type { Context } from 'koa';
import { contentSecurityPolicy, pageHeaders } from '../views/content-security-policy.ts';

/**
 * Sends a page of ours, with the headers every page has (T-017).
 * @param redirectUri where a form on it may lead in the end; Chromium holds redirects to the form policy
 */
export function showPage(ctx: Context, page: string, redirectUri?: string): void {
  ctx.set(pageHeaders);
  ctx.set('Content-Security-Policy', contentSecurityPolicy(redirectUri));
  if (ctx.status === 404) ctx.status = 200;
  ctx.type = 'html';
  ctx.body = page;
}
