import Koa, { type Context, type Middleware, type Next } from 'koa';
import compose from 'koa-compose';
import type { ProtectedResourceMetadata } from '../oauth/metadata.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import { answerTogether } from './answer-together.ts';
import { findClientAddress } from './client-address.ts';
import { allowAnyOrigin, allowKnownOrigins } from './cors.ts';
import { answerErrors, answerNotFound, type ErrorOptions } from './errors.ts';
import { answerHealth } from './health.ts';
import { serveHome } from './home.ts';
import { type GuardOptions, guardHost } from './host-guard.ts';
import { type LiveRoutes, ofRoutes } from './live-routes.ts';
import type { Page } from './page.ts';
import { countedPaths, paths, serverPathsOf, slashTolerantPaths } from './paths.ts';
import { pinPublicOrigin, useOwnApp } from './public-origin.ts';
import { createReadiness } from './readiness.ts';
import { nameRequests } from './request-id.ts';
import { createRouteNames } from './route-name.ts';
import { requireUnreadBody } from './unread-body.ts';
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
  /** The MCP servers. */
  routes: LiveRoutes<AppRoute>;
}

/** An MCP server, as it is served. */
export interface AppRoute {
  /** Where it is below the public URL; empty for the public URL itself. */
  path: string;
  /** The protected resources it is: one at a path for each family of transports. */
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
 * Creates the app: the map of the house, every step of a request in its order. What is served of an MCP server stands at
 * paths of its own, so that no order is among them.
 */
export function createApp(options: AppOptions): Koa {
  const { publicUrl, logger, storage } = options;
  const base = pathOf(publicUrl);
  const app = new Koa({ proxy: true });
  app.keys = options.cookieKeys;
  app.on('error', (error) => logger.debug({ err: error }, 'a connection failed'));

  const at = (path: string, ...steps: Middleware[]): Middleware => {
    const run = compose(steps);
    return (ctx, next) => (ctx.path === path ? run(ctx, next) : next());
  };
  const below = (folder: string, step: Middleware): Middleware => {
    return (ctx, next) => (ctx.path.startsWith(folder) ? step(ctx, next) : next());
  };
  const documentCors = allowAnyOrigin(['GET', 'HEAD']);
  const homePaths = base === '' ? ['/'] : [base, `${base}/`];
  const aliases = ofRoutes(options.routes, (all) => buildAliases(publicUrl, slashTolerantPaths, all));
  const serverPaths = ofRoutes(options.routes, (all) => new Set(serverPathsOf(all)));
  const isServerPath = (path: string): boolean => serverPaths().has(path);
  const isForPrograms = (path: string): boolean =>
    path.startsWith(base) && isServerPath(path.slice(base.length));
  const routeName = createRouteNames(base, countedPaths, isServerPath);

  /** Everything that is served of an MCP server: its endpoints, and the documents about them. */
  const stepsOfRoute = ({ path, protectedResources, mcpEndpoint }: AppRoute): PathStep[] => {
    const { mcp, sse, rest } = protectedResources;
    const guarded = (
      place: string,
      methods: string[],
      guard: GuardedResource,
      serve: Middleware,
    ): PathStep => [
      `${base}${path}${place}`,
      compose<Context>([
        allowKnownOrigins(options, methods),
        mcpEndpoint.refuseOversized,
        guard.requireBearer,
        serve,
      ]),
    ];
    const metadata = (place: string, guard: GuardedResource): PathStep => [
      `${wellKnown.protectedResource}${base}${path}${place}`,
      compose<Context>([documentCors, serveMetadata(guard.metadata)]),
    ];
    return [
      guarded(paths.mcp, ['GET', 'POST', 'DELETE'], mcp, mcpEndpoint.middleware),
      guarded(paths.sse, ['GET'], sse, mcpEndpoint.sse),
      guarded(paths.messages, ['POST'], sse, mcpEndpoint.messages),
      guarded(paths.rest, ['POST'], rest, mcpEndpoint.rest),
      metadata(paths.mcp, mcp),
      metadata(paths.sse, sse),
      metadata(paths.rest, rest),
    ];
  };

  const steps: Middleware[] = [
    answerTogether(),
    nameRequests({
      logger,
      isForPrograms,
      count: (path, status, ms) => options.metrics.countRequest(routeName(path), status, ms),
    }),
    answerErrors({ logger, renderErrorPage: options.renderErrorPage, isForPrograms }),
    findClientAddress(options.trustedProxies),
    requireUnreadBody(logger),
    at(paths.health, (ctx) => answerHealth(ctx, storage)),
    at(paths.readiness, createReadiness({ storage, isStopping: options.isStopping })),
    guardHost(options),
    pinPublicOrigin(publicUrl),
    useOwnApp(app),
    resolveAliases(aliases, options.tolerate),
    atPaths(ofRoutes(options.routes, (all) => new Map(all.flatMap(stepsOfRoute)))),
    at(`${base}${wellKnown.authorizationServer}`, documentCors, options.authorizationServer),
    at(`${base}${wellKnown.openidConfiguration}`, documentCors, options.authorizationServer),
    at(`${base}/jwks`, documentCors, options.authorizationServer),
    at(`${base}/register`, allowAnyOrigin(['POST']), options.authorizationServer),
    below(`${base}/register/`, allowAnyOrigin(['GET', 'PUT', 'DELETE'])),
    ...homePaths.map((path) => at(path, serveHome(options.renderHomePage))),
    options.authorizationServer,
    below('/.well-known/', documentCors),
    answerNotFound({ renderErrorPage: options.renderErrorPage, isForPrograms }),
  ];
  app.use(compose(steps));
  return app;
}

/** A step, and the one path it is for. */
type PathStep = [path: string, step: Middleware];

/** Middleware: the step of the path. @param current gives the steps of now */
function atPaths(current: () => ReadonlyMap<string, Middleware>): Middleware {
  return (ctx, next) => {
    const step = current().get(ctx.path);
    return step ? step(ctx, next) : next();
  };
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
