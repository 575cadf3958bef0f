import type { Context, Next } from 'koa';
import { type Page, sendPage, wantsPage } from './page.ts';

/**
 * Middleware: tells whoever opens the public URL in a browser what is here; programs go on to the JSON 404.
 * @param renderPage gives the page for what the browser sent as `Accept-Language`
 */
export function serveHome(renderPage: (acceptLanguage: string) => Page) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if ((ctx.method !== 'GET' && ctx.method !== 'HEAD') || !wantsPage(ctx)) return next();
    ctx.status = 200;
    sendPage(ctx, renderPage(ctx.get('Accept-Language')));
  };
}
