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
