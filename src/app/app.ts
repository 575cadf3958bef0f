import Koa, { type Context, type Middleware, type Next } from 'koa';
import compose from 'koa-compose';
import { createWriteBatcher } from '../net/write-batcher.ts';
import type { ProtectedResourceMetadata } from '../oauth/metadata.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import { noteClientAddress } from './client-address.ts';
import { answerErrors, answerNotFound, type ErrorOptions, requireUnreadBody } from './errors.ts';
import { answerHealth, createReadiness } from './health.ts';
import {
  allowAnyOrigin,
  allowKnownOrigins,
  type GuardOptions,
  guardHost,
  pinPublicOrigin,
  useOwnApp,
} from './origins.ts';
import { type Page, serveHome } from './page.ts';
import {
  buildAliases,
  countedPaths,
  type LiveRoutes,
  ofRoutes,
  paths,
  resolveAliases,
  serverPathsOf,
  slashTolerantPaths,
} from './paths.ts';
import { createRouteNames, nameRequests } from './request-log.ts';

/** Options of {@link createApp}. */
export interface AppOptions extends GuardOptions {
  /** Returns the address of the client of a request. */
  findClientAddress: Parameters<typeof noteClientAddress>[0];
  /** Sign the cookies of the OAuth engine. */
  cookieKeys: Koa['keys'];
  storage: Pick<Storage, 'ping' | 'probeWrite'>;
  /** True as soon as the server was told to stop. */
  isStopping: () => boolean;
  metrics: Pick<Metrics, 'countRequest'>;
  logger: Logger;
  /** Renders the page at the public URL. */
  renderHomePage: (acceptLanguage: string) => Page;
  renderErrorPage: ErrorOptions['renderErrorPage'];
  /** Checks if a path outside the standards is served, by its tolerance, and logs that it was. */
  tolerate: Parameters<typeof resolveAliases>[1];
  authorizationServer: (ctx: Context, next: Next) => Promise<void>;
  /** The MCP servers. */
  routes: LiveRoutes<AppRoute>;
}

/** An MCP server with its paths. */
export interface AppRoute {
  /** Path below the public URL; empty for the public URL itself. */
  path: string;
  /** Its protected resources, one for each family of transports. */
  protectedResources: Record<'mcp' | 'sse' | 'rest', GuardedResource>;
  mcpEndpoint: Record<'refuseOversized' | 'middleware' | 'sse' | 'messages' | 'rest', Middleware>;
}

/** A protected resource with its bearer check. */
export interface GuardedResource {
  /** RFC 9728 document. */
  metadata: ProtectedResourceMetadata;
  requireBearer: Middleware;
}

/**
 * Creates the app: every step of an HTTP request, in order. Each endpoint of an MCP server has its own path, so their order
 * does not matter.
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

  /** Returns the endpoints of an MCP server, and their metadata documents. */
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
    noteClientAddress(options.findClientAddress),
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

/** A step and its path. */
type PathStep = [path: string, step: Middleware];

/** Middleware: runs the step of the path. @param current returns the present steps */
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

/** Middleware: sends responses that are ready at nearly the same time together. Responses sent without Koa do this themselves. */
export function answerTogether() {
  const sendTogether = createWriteBatcher();
  return async (ctx: Context, next: Next): Promise<void> => {
    await next();
    if (ctx.respond !== false) await new Promise<void>(sendTogether);
  };
}
