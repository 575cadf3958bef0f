import type Koa from 'koa';
import type { Context, Next } from 'koa';
import { fieldValues } from '../oauth/headers.ts';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';

/** A `Host` field: a host, and perhaps a port (RFC 9110 section 7.2). */
const hostField = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/** Options of the checks of `Host` and `Origin`. */
export interface GuardOptions {
  publicUrl: string;
  /** Origins of browser clients, besides the origin of the public URL. */
  allowedOrigins: readonly string[];
  /** True if requests reach this machine without a proxy in front. */
  direct: boolean;
}

/**
 * Middleware: requires one well-formed `Host` (T-107). An installation on loopback accepts loopback hosts only, so that a
 * page in a browser cannot reach it under its own name (DNS rebinding, T-131). Elsewhere proxies choose the name.
 */
export function guardHost({ publicUrl, direct }: GuardOptions) {
  const own = new URL(publicUrl);
  const loopbackOnly = isLoopbackHost(own.hostname);
  const isAccepted = (host: string): boolean => {
    const name = host.replace(/:\d+$/, '').toLowerCase();
    return !loopbackOnly || !direct || isLoopbackHost(name) || name === own.hostname;
  };
  /** The last accepted host: nearly every request has the same one. */
  let passed: string | undefined;
  return (ctx: Context, next: Next): Promise<void> | void => {
    const [host = '', ...more] = fieldValues(ctx.req.rawHeaders, 'host');
    if (
      more.length > 0 ||
      ctx.req.url?.startsWith('/') !== true ||
      !(host === passed || hostField.test(host))
    )
      return refuse(ctx, 400, 'The request needs one Host header and a path.');
    if (host !== passed && !isAccepted(host))
      return refuse(ctx, 421, `This server answers at ${publicUrl} only.`);
    passed = host;
    return next();
  };
}

function refuse(ctx: Context, status: number, sentence: string): void {
  ctx.status = status;
  ctx.body = { error: 'invalid_request', error_description: sentence };
}

/**
 * Checks if pages of an origin may call the MCP endpoint: the origin of the public URL, listed origins, and on a loopback
 * installation any loopback origin (MCP transports "Security Warning", B3-12).
 */
export function originAllowed(origin: string, { publicUrl, allowedOrigins }: GuardOptions): boolean {
  const own = new URL(publicUrl);
  if (origin === own.origin || allowedOrigins.includes(origin)) return true;
  const url = URL.parse(origin);
  return (
    isLoopbackHost(own.hostname) && url !== null && url.origin === origin && isLoopbackHost(url.hostname)
  );
}

const preflightAgeSeconds = '3600';

/**
 * Middleware: lets pages of any origin read a public document, or post to an endpoint without cookies. Never allows
 * credentials (T-114).
 * @param methods methods that a page may use
 */
export function allowAnyOrigin(methods: readonly string[]) {
  return async (ctx: Context, next: Next): Promise<void> => {
    ctx.set('Access-Control-Allow-Origin', '*');
    if (ctx.method === 'OPTIONS') return preflight(ctx, methods);
    ctx.set('Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After');
    await next();
  };
}

/**
 * Middleware: rejects pages of other origins at the MCP endpoint with 403, before any other work, and lets allowed origins
 * read the responses.
 */
export function allowKnownOrigins(options: GuardOptions, methods: readonly string[]) {
  return (ctx: Context, next: Next): Promise<void> | void => {
    const origin = ctx.get('Origin');
    if (origin === '') return next();
    ctx.vary('Origin');
    if (!originAllowed(origin, options)) {
      ctx.status = 403;
      ctx.body = {
        jsonrpc: '2.0',
        id: null,
        error: {
          code: -32000,
          message:
            'Pages of this origin may not call this server. Its operator can list the origin in allowedOrigins.',
        },
      };
      return;
    }
    ctx.set('Access-Control-Allow-Origin', origin);
    if (ctx.method === 'OPTIONS') return preflight(ctx, methods);
    ctx.set(
      'Access-Control-Expose-Headers',
      'WWW-Authenticate, DPoP-Nonce, Mcp-Session-Id, MCP-Protocol-Version, Retry-After',
    );
    return next();
  };
}

function preflight(ctx: Context, methods: readonly string[]): void {
  ctx.status = 204;
  ctx.set('Access-Control-Allow-Methods', methods.join(', '));
  ctx.set('Access-Control-Max-Age', preflightAgeSeconds);
  const headers = ctx.get('Access-Control-Request-Headers');
  if (headers) ctx.set('Access-Control-Allow-Headers', headers);
}

/** Headers in which a proxy, or an attacker, describes the outer URL. */
const forwardedHeaders = [
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-for',
];

/**
 * Middleware: replaces Host and forwarded headers by the public URL, so that no URL we build can follow the request (T-106).
 * The OAuth engine builds URLs from the request.
 */
export function pinPublicOrigin(publicUrl: string) {
  const { host, protocol } = new URL(publicUrl);
  const shown = [
    ['host', host],
    ['x-forwarded-proto', protocol.slice(0, -1)],
  ] as const;
  return (ctx: Context, next: Next): Promise<void> => {
    const { headers } = ctx.req;
    // Only if present: a deleted property makes the whole object slow to read.
    for (const name of forwardedHeaders) if (headers[name] !== undefined) delete headers[name];
    for (const [name, value] of shown) headers[name] = value;
    return next();
  };
}

/**
 * Middleware: makes a request that came through another Koa app, as by `mount('/', gatehouse.app)`, use the cookie keys and
 * settings of this app. Otherwise no login cookie can be read, and each login ends (FA-36). Comes after
 * {@link pinPublicOrigin}, because cookies depend on the scheme.
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
