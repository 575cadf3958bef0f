import type { Context } from 'koa';
import { textsFor } from '../texts/page-texts.ts';
import { contentSecurityPolicy, pageHeaders } from '../views/content-security-policy.ts';
import { type OnwardTarget, renderOnward } from '../views/redirect-target.ts';

/**
 * Sends a page of ours, with the headers every page has (T-017).
 * @param scriptSource see {@link contentSecurityPolicy}
 */
export function showPage(ctx: Context, page: string, scriptSource?: string): void {
  ctx.set(pageHeaders);
  ctx.set('Content-Security-Policy', contentSecurityPolicy(scriptSource));
  if (ctx.status === 404) ctx.status = 200;
  ctx.type = 'html';
  ctx.body = page;
}

/** Sends the browser on by 303, which makes a GET of what follows a form (T-018). */
export function redirectSeeOther(ctx: Context, url: string): void {
  ctx.status = 303;
  ctx.redirect(url);
}

/**
 * Returns true if a form was posted by a browser: programs do not send `navigate`, and browsers before 2023 name
 * themselves alone.
 */
function isFormOfBrowser(ctx: Context): boolean {
  if (ctx.method !== 'POST') return false;
  const mode = ctx.get('Sec-Fetch-Mode');
  return mode === '' ? ctx.get('User-Agent').startsWith('Mozilla/') : mode === 'navigate';
}

/**
 * Sends the browser on to where the way may end at an app or at another login. A browser holds each redirect after a form
 * to the `form-action` of its page, also those of the app from its callback to its own scheme. A form of a browser is
 * therefore answered with a page that navigates; everything else by 303 (T-018).
 * @param url absolute and trusted, without a code or a token: of ours, of an upstream, or registered for the end of a logout
 */
export function navigate(ctx: Context, url: string, target: OnwardTarget = 'step'): void {
  if (isFormOfBrowser(ctx)) {
    ctx.remove('Location');
    ctx.status = 200;
    showPage(ctx, renderOnward(textsFor(ctx), url, target));
  } else redirectSeeOther(ctx, url);
}
