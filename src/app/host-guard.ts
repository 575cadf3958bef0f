import type { Context, Next } from 'koa';
import { fieldValues } from '../oauth/headers.ts';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';

/** A `Host` field: host, and perhaps a port (RFC 9110 section 7.2). */
const hostField = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/** What the guards allow beside the public URL. */
export interface GuardOptions {
  publicUrl: string;
  /** Origins of browser clients, beside our own. */
  allowedOrigins: readonly string[];
  /** Whether requests come straight to this machine, without a proxy in front. */
  direct: boolean;
}

function refuse(ctx: Context, status: number, sentence: string): void {
  ctx.status = status;
  ctx.body = { error: 'invalid_request', error_description: sentence };
}

/**
 * Middleware: one well-formed `Host` (T-107), and on a loopback installation only a loopback one, so that a page in
 * a browser cannot reach it under a name of its own (DNS rebinding, T-131). Elsewhere proxies choose the name.
 */
export function guardHost({ publicUrl, direct }: GuardOptions) {
  const own = new URL(publicUrl);
  const loopbackOnly = isLoopbackHost(own.hostname);
  const answersAt = (host: string): boolean => {
    const name = host.replace(/:\d+$/, '').toLowerCase();
    return !loopbackOnly || !direct || isLoopbackHost(name) || name === own.hostname;
  };
  /** The last host that passed: nearly every request names the same one. */
  let passed: string | undefined;
  return (ctx: Context, next: Next): Promise<void> | void => {
    const [host = '', ...more] = fieldValues(ctx.req.rawHeaders, 'host');
    if (
      more.length > 0 ||
      ctx.req.url?.startsWith('/') !== true ||
      !(host === passed || hostField.test(host))
    )
      return refuse(ctx, 400, 'The request needs one Host header and a path.');
    if (host !== passed && !answersAt(host))
      return refuse(ctx, 421, `This server answers at ${publicUrl} only.`);
    passed = host;
    return next();
  };
}

/**
 * @param origin the `Origin` of a request
 * @returns whether a page of that origin may call the MCP endpoint: our own, a listed one, and on a loopback
 *   installation any loopback one (MCP transports "Security Warning", B3-12)
 */
export function originAllowed(origin: string, { publicUrl, allowedOrigins }: GuardOptions): boolean {
  const own = new URL(publicUrl);
  if (origin === own.origin || allowedOrigins.includes(origin)) return true;
  const url = URL.parse(origin);
  return (
    isLoopbackHost(own.hostname) && url !== null && url.origin === origin && isLoopbackHost(url.hostname)
  );
}
