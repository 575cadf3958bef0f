import Koa, { type Context, type Middleware, type Next } from 'koa';
import type { ProtectedResourceMetadata } from '../oauth/metadata.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import { findClientAddress } from './client-address.ts';
import { allowAnyOrigin, allowKnownOrigins } from './cors.ts';
import { answerErrors, answerNotFound, type ErrorOptions } from './errors.ts';
import { answerHealth } from './health.ts';
import { serveHome } from './home.ts';
import { type GuardOptions, guardHost } from './host-guard.ts';
import type { Page } from './page.ts';
import { countedPaths, paths, programPaths, slashTolerantPaths } from './paths.ts';
import { pinPublicOrigin } from './public-origin.ts';
import { createReadiness } from './readiness.ts';
import { nameRequests } from './request-id.ts';
import { createRouteNames } from './route-name.ts';
import { sequence } from './sequence.ts';
import { buildAliases, resolveAliases } from './well-known.ts';

/** What the app puts in order. */
export interface AppOptions extends GuardOptions {
  trustedProxies: readonly string[];
  /** Sign the engine's cookies, as its own do. */
  cookieKeys: Koa['keys'];
  storage: Pick<Storage, 'ping' | 'probeWrite'>;
  /** Whether the server was told to stop. */
  isStopping: () => boolean;
  metrics: Pick<Metrics, 'countRequest'>;
  logger: Logger;
  /** What a person finds at the public URL. */
  renderHomePage: (acceptLanguage: string) => Page;
  renderErrorPage: ErrorOptions['renderErrorPage'];
  /** Whether paths of no standard are served, by their tolerance; notes in the log that one was. */
  tolerate: Parameters<typeof resolveAliases>[1];
  authorizationServer: (ctx: Context, next: Next) => Promise<void>;
  /** The protected resources: one MCP server, at a path for each family of transports. */
  protectedResources: Record<'mcp' | 'sse' | 'rest', GuardedResource>;
  mcpEndpoint: Record<'refuseOversized' | 'middleware' | 'sse' | 'messages' | 'rest', Middleware>;
}

/** A protected resource, and the check in front of it. */
export interface GuardedResource {
  /** RFC 9728 document. */
  metadata: ProtectedResourceMetadata;
  requireBearer: Middleware;
}

/**
 * Creates the app: the map of the house, every step of a request in its order.
 */
export function createApp(options: AppOptions): Koa {
  const { publicUrl, logger, storage } = options;
  const base = pathOf(publicUrl);
  const app = new Koa({ proxy: true });
  app.keys = options.cookieKeys;
  app.on('error', (error) => logger.debug({ err: error }, 'a connection failed'));

  const at = (path: string, ...steps: Middleware[]): Middleware => {
    const run = sequence(steps);
    return (ctx, next) => (ctx.path === path ? run(ctx, next) : next());
  };
  const below = (folder: string, step: Middleware): Middleware => {
    return (ctx, next) => (ctx.path.startsWith(folder) ? step(ctx, next) : next());
  };
  const routeName = createRouteNames(base, countedPaths);
  const forPrograms = programPaths.map((path) => `${base}${path}`);
  const documentCors = allowAnyOrigin(['GET', 'HEAD']);
  const { mcp, sse, rest } = options.protectedResources;
  const { mcpEndpoint } = options;
  const metadataAt = (path: string, { metadata }: GuardedResource): Middleware =>
    at(`${wellKnown.protectedResource}${base}${path}`, documentCors, serveMetadata(metadata));
  const guardedAt = (
    path: string,
    methods: string[],
    guard: GuardedResource,
    serve: Middleware,
  ): Middleware =>
    at(
      `${base}${path}`,
      allowKnownOrigins(options, methods),
      mcpEndpoint.refuseOversized,
      guard.requireBearer,
      serve,
    );

  const steps: Middleware[] = [
    nameRequests({
      logger,
      programPaths: forPrograms,
      count: (path, status, ms) => options.metrics.countRequest(routeName(path), status, ms),
    }),
    answerErrors({ logger, renderErrorPage: options.renderErrorPage, programPaths: forPrograms }),
    findClientAddress(options.trustedProxies),
    at(paths.health, (ctx) => answerHealth(ctx, storage)),
    at(paths.readiness, createReadiness({ storage, isStopping: options.isStopping })),
    guardHost(options),
    pinPublicOrigin(publicUrl),
    resolveAliases(buildAliases(publicUrl, slashTolerantPaths), options.tolerate),
    guardedAt(paths.mcp, ['GET', 'POST', 'DELETE'], mcp, mcpEndpoint.middleware),
    guardedAt(paths.sse, ['GET'], sse, mcpEndpoint.sse),
    guardedAt(paths.messages, ['POST'], sse, mcpEndpoint.messages),
    guardedAt(paths.rest, ['POST'], rest, mcpEndpoint.rest),
    metadataAt(paths.mcp, mcp),
    metadataAt(paths.sse, sse),
    metadataAt(paths.rest, rest),
    at(`${base}${wellKnown.authorizationServer}`, documentCors, options.authorizationServer),
    at(`${base}${wellKnown.openidConfiguration}`, documentCors, options.authorizationServer),
    at(`${base}/jwks`, documentCors, options.authorizationServer),
    at(`${base}/register`, allowAnyOrigin(['POST']), options.authorizationServer),
    below(`${base}/register/`, allowAnyOrigin(['GET', 'PUT', 'DELETE'])),
    at(`${base}/`, serveHome(options.renderHomePage)),
    options.authorizationServer,
    below('/.well-known/', documentCors),
    answerNotFound({ renderErrorPage: options.renderErrorPage, programPaths: forPrograms }),
  ];
  app.use(sequence(steps));
  return app;
}

function serveMetadata(metadata: ProtectedResourceMetadata): Middleware {
  return async (ctx) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD, OPTIONS');
      ctx.throw(405, 'Use GET here.');
    }
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = metadata;
  };
}
