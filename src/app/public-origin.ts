import type Koa from 'koa';
import type { Context, Next } from 'koa';

/** Headers by which a proxy, or an attacker, says what the outside looks like. */
const forwardedHeaders = [
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-for',
];

/**
 * Middleware: shows everything behind it one origin, the configured one. Host and forwarded headers of the request
 * are put aside, so that no URL we build can follow them (T-106; trap: the engine builds URLs from the request).
 * @param publicUrl the configured public URL
 */
export function pinPublicOrigin(publicUrl: string) {
  const { host, protocol } = new URL(publicUrl);
  const shown = [
    ['host', host],
    ['x-forwarded-proto', protocol.slice(0, -1)],
  ] as const;
  return (ctx: Context, next: Next): Promise<void> => {
    const { headers } = ctx.req;
    // Only what is there: a deleted property makes the whole object slow to read.
    for (const name of forwardedHeaders) if (headers[name] !== undefined) delete headers[name];
    // By many names in one place, as in mcp/checks/header.ts: headers come in any order.
    for (const [name, value] of shown) headers[name] = value;
    return next();
  };
}

/**
 * Middleware: has a request that came through another Koa app, as by `mount('/', gatehouse.app)`, use the keys of cookies
 * and the settings of this one. Otherwise no cookie of a login can be read, and each login ends (FA-36). Stands behind
 * {@link pinPublicOrigin}, as cookies depend on the scheme.
 */
export function useOwnApp(app: Koa) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const outer = ctx.app;
    if (outer === app) return next();
    const belongTo = (owner: Koa): void => {
      for (const part of [ctx, ctx.request, ctx.response]) part.app = owner;
    };
    const { cookies } = ctx;
    ctx.cookies = app.createContext(ctx.req, ctx.res).cookies;
    belongTo(app);
    await next().finally(() => {
      belongTo(outer);
      ctx.cookies = cookies;
    });
  };
}
