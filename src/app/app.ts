import Koa, { type Context, type Middleware, type Next } from 'koa';
import type { ProtectedResourceMetadata } from '../oauth/metadata.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import type { Logger } from '../observability/logger.ts';
import type { Storage } from '../storage/storage.ts';
import { findClientAddress } from './client-address.ts';
import { allowAnyOrigin, allowKnownOrigins } from './cors.ts';
import { answerErrors, answerNotFound, type ErrorOptions } from './errors.ts';
import { answerHealth } from './health.ts';
import { serveHome } from './home.ts';
import { type GuardOptions, guardHost } from './host-guard.ts';
import type { Page } from './page.ts';
import { paths, slashTolerantPaths } from './paths.ts';
import { pinPublicOrigin } from './public-origin.ts';
import { nameRequests } from './request-id.ts';
import { sequence } from './sequence.ts';
import { buildAliases, resolveAliases } from './well-known.ts';

/** What the app puts in order. */
export interface AppOptions extends GuardOptions {
  trustedProxies: readonly string[];
  /** Sign the engine's cookies. */
  cookieKeys: readonly string[];
  storage: Pick<Storage, 'ping'>;
  logger: Logger;
  /** RFC 9728 document of the MCP endpoint. */
  protectedResource: ProtectedResourceMetadata;
  /** What a person finds at the public URL. */
  homePage: Page;
  renderErrorPage: ErrorOptions['renderErrorPage'];
  authorizationServer: (ctx: Context, next: Next) => Promise<void>;
  requireBearer: Middleware;
  mcpEndpoint: { refuseOversized: Middleware; middleware: Middleware };
}

/**
 * Creates the app: the map of the house, every step of a request in its order.
 */
export function createApp(options: AppOptions): Koa {
  const { publicUrl, logger, storage } = options;
  const base = pathOf(publicUrl);
  const app = new Koa({ proxy: true });
  app.keys = [...options.cookieKeys];
  app.on('error', (error) => logger.debug({ err: error }, 'a connection failed'));

  const at = (path: string, ...steps: Middleware[]): Middleware => {
    const run = sequence(steps);
    return (ctx, next) => (ctx.path === path ? run(ctx, next) : next());
  };
  const below = (folder: string, step: Middleware): Middleware => {
    return (ctx, next) => (ctx.path.startsWith(folder) ? step(ctx, next) : next());
  };
  const serveProtectedResource: Middleware = async (ctx) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD, OPTIONS');
      ctx.throw(405, 'Use GET here.');
    }
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = options.protectedResource;
  };
  const documentCors = allowAnyOrigin(['GET', 'HEAD']);

  const steps: Middleware[] = [
    nameRequests(logger),
    answerErrors({ logger, renderErrorPage: options.renderErrorPage, mcpPath: `${base}${paths.mcp}` }),
    findClientAddress(options.trustedProxies),
    at(paths.health, (ctx) => answerHealth(ctx, storage)),
    guardHost(options),
    pinPublicOrigin(publicUrl),
    resolveAliases(buildAliases(publicUrl, slashTolerantPaths)),
    at(`${wellKnown.protectedResource}${base}${paths.mcp}`, documentCors, serveProtectedResource),
    at(
      `${base}${paths.mcp}`,
      allowKnownOrigins(options, ['GET', 'POST', 'DELETE']),
      options.mcpEndpoint.refuseOversized,
      options.requireBearer,
      options.mcpEndpoint.middleware,
    ),
    at(`${base}${wellKnown.authorizationServer}`, documentCors, options.authorizationServer),
    at(`${base}${wellKnown.openidConfiguration}`, documentCors, options.authorizationServer),
    at(`${base}/jwks`, documentCors, options.authorizationServer),
    at(`${base}/register`, allowAnyOrigin(['POST']), options.authorizationServer),
    at(`${base}/`, serveHome(options.homePage)),
    options.authorizationServer,
    below('/.well-known/', documentCors),
    answerNotFound,
  ];
  app.use(sequence(steps));
  return app;
}
