import type { Context, Next } from 'koa';
import { type GuardOptions, originAllowed } from './host-guard.ts';

const preflightAgeSeconds = '3600';

/**
 * Middleware: lets any page read a public document, or post to an endpoint that uses no cookies. Nothing here ever
 * allows credentials (T-114).
 * @param methods what a page may use
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
 * Middleware: refuses pages of other origins at the MCP endpoint (403, before any other work) and lets allowed ones
 * read the answers.
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
