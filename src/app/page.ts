import type { Context, Next } from 'koa';

/** A page for a person: a complete HTML document with the headers it must be sent with. */
export interface Page {
  headers: Readonly<Record<string, string>>;
  html: string;
}

/** Checks if the client prefers HTML to JSON, as browsers do. */
export function wantsPage(ctx: Context): boolean {
  return ctx.accepts('json', 'html') === 'html';
}

/** Sends a page; the status stays as it is set. */
export function sendPage(ctx: Context, { headers, html }: Page): void {
  ctx.set({ ...headers });
  ctx.vary(['Accept', 'Accept-Language']);
  ctx.type = 'html';
  ctx.body = html;
}

/**
 * Middleware: shows the home page to browsers; programs get the JSON 404 further on.
 * @param renderPage renders the page for an `Accept-Language` header
 */
export function serveHome(renderPage: (acceptLanguage: string) => Page) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if ((ctx.method !== 'GET' && ctx.method !== 'HEAD') || !wantsPage(ctx)) return next();
    ctx.status = 200;
    sendPage(ctx, renderPage(ctx.get('Accept-Language')));
  };
}
