import type { Context, Next } from 'koa';
import compose from 'koa-compose';
import { pathOf } from '../oauth/well-known.ts';
import { exposeWait } from './endpoint-limits/answers.ts';
import type { EndpointLimit, LimitName } from './endpoint-limits/endpoint-limit.ts';
import type { Endpoint, EndpointFamily } from './endpoints/endpoint.ts';
import { refuseOpaqueOrigin, type Step } from './endpoints/endpoint-guards.ts';
import { answerWithOAuthError } from './endpoints/oauth-answer.ts';
import { noteTolerated } from './tolerances/note-tolerated.ts';
import type { Tolerances } from './tolerances/tolerances.ts';

/** Pages below one path, which look at methods themselves. */
export interface PageFolder {
  path: string;
  limits: readonly [EndpointLimit, ...EndpointLimit[]];
  /** Serves a page by its path below the folder. */
  serve: (ctx: Context, path: string) => Promise<void>;
}

/** What requests are handed to. Paths are those below the issuer. */
export interface DispatchOptions {
  issuer: string;
  endpoints: Readonly<Record<string, Endpoint>>;
  families: readonly EndpointFamily[];
  folders: readonly PageFolder[];
  tolerances: Tolerances;
  /** Has the engine answer at a path. */
  at: (path: string) => Step;
}

/** How a request finds its endpoint. */
export interface Dispatch {
  /** Serves a request to one of our paths; calls `next` for any other. */
  middleware: (ctx: Context, next: Next) => Promise<void>;
  /** The limits in front of every endpoint, by its path below the issuer; `<…>` stands for a part that varies. */
  endpointLimits: ReadonlyMap<string, readonly LimitName[]>;
}

/**
 * Creates the way of a request to its endpoint: its path, then its method, then its limits, then its steps.
 */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { endpoints, families, folders, tolerances, at } = options;
  const base = pathOf(options.issuer);

  const findEndpoint = (path: string): Endpoint | undefined => {
    if (Object.hasOwn(endpoints, path)) return endpoints[path];
    const family = families.find(({ pattern }) => pattern.test(path));
    return family && { ...family, steps: family.steps(path) };
  };

  return {
    endpointLimits: new Map(
      [
        ...Object.entries(endpoints),
        ...[...families, ...folders].map((each) => [each.path, each] as const),
      ].map(([path, { limits }]) => [path, limits.map(({ name }) => name)]),
    ),
    async middleware(ctx, next) {
      if (ctx.path !== base && !ctx.path.startsWith(`${base}/`)) return next();
      const path = ctx.path.slice(base.length);
      const folder = folders.find((each) => path === each.path || path.startsWith(`${each.path}/`));
      if (folder)
        return compose([
          ...stepsOf(folder.limits),
          () => folder.serve(ctx, path.slice(folder.path.length + 1)),
        ])(ctx);
      const endpoint = findEndpoint(path);
      if (!endpoint) return next();
      if (ctx.method === 'OPTIONS') return compose([...preflightSteps(endpoint), at(path)])(ctx);
      if (endpoint.methods.includes(ctx.method === 'HEAD' ? 'GET' : ctx.method))
        return noteTolerated(ctx, tolerances, () =>
          compose([exposeWait, ...stepsOf(endpoint.limits), ...endpoint.steps])(ctx),
        );
      ctx.set('Allow', [...endpoint.methods, 'OPTIONS'].join(', '));
      answerWithOAuthError(ctx, 405, 'invalid_request', `use ${endpoint.methods.join(' or ')} here`);
    },
  };
}

const stepsOf = (limits: readonly EndpointLimit[]): Step[] => limits.map(({ step }) => step);

/** What a page is told before it may ask: pages that may not ask at all are told so. */
function preflightSteps({ steps }: Endpoint): Step[] {
  return steps.filter((step) => step === refuseOpaqueOrigin);
}
