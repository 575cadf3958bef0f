import type { Context } from 'koa';

/** A page for a person: a whole HTML document and the headers it has to be sent with. */
export interface Page {
  headers: Readonly<Record<string, string>>;
  html: string;
}

/** @returns whether a person's browser asks, rather than a program: HTML is wanted, and wanted more than JSON */
export function wantsPage(ctx: Context): boolean {
  return ctx.accepts('json', 'html') === 'html';
}

/** Answers with a page; the status stays as it is set. */
export function sendPage(ctx: Context, { headers, html }: Page): void {
  ctx.set({ ...headers });
  ctx.vary(['Accept', 'Accept-Language']);
  ctx.type = 'html';
  ctx.body = html;
}
