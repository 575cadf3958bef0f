import type { Context, Next } from 'koa';
import compose from 'koa-compose';
import { pathOf } from '../oauth/well-known.ts';
import { exposeWait } from './endpoint-limits/endpoint-limits.ts';
import {
  answerWithOAuthError,
  type Endpoint,
  type EndpointFamily,
  refuseOpaqueOrigin,
  type Step,
} from './endpoints/endpoint-guards.ts';
import type { EndpointLimit, LimitName } from './limits.ts';
import { noteTolerated, type Tolerances } from './tolerances.ts';

/** Pages below one path, which look at methods themselves. */
export interface PageFolder {
  path: string;
  limits: readonly [EndpointLimit, ...EndpointLimit[]];
  /** Serves a page by its path below the folder. */
  serve: (ctx: Context, path: string) => Promise<void>;
}

/** Targets of requests. Paths are relative to the issuer. */
export interface DispatchOptions {
  issuer: string;
  endpoints: Readonly<Record<string, Endpoint>>;
  families: readonly EndpointFamily[];
  folders: readonly PageFolder[];
  tolerances: Tolerances;
  /** Passes a request to the engine. */
  at: (path: string) => Step;
}

/** Finds the endpoint of a request. */
export interface Dispatch {
  /** Serves a request to one of our paths; calls `next` for any other. */
  middleware: (ctx: Context, next: Next) => Promise<void>;
  /** The limits in front of every endpoint, by its path below the issuer; `<…>` stands for a part that varies. */
  endpointLimits: ReadonlyMap<string, readonly LimitName[]>;
}

/** The way of requests through an endpoint. */
interface Way {
  methods: readonly string[];
  preflight: Step;
  pass: Step;
}

/** The last step of each endpoint. */
const end = async (): Promise<void> => undefined;

/** Creates the dispatch of requests: path, then method, then limits, then the steps of the endpoint. */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { endpoints, families, folders, tolerances, at } = options;
  const base = pathOf(options.issuer);

  const wayTo = (path: string, endpoint: Endpoint): Way => ({
    methods: endpoint.methods,
    preflight: compose([...preflightSteps(endpoint), at(path)]),
    pass: compose([exposeWait, ...stepsOf(endpoint.limits), ...endpoint.steps]),
  });
  const ways = new Map(Object.entries(endpoints).map(([path, endpoint]) => [path, wayTo(path, endpoint)]));
  const pages = folders.map((folder) => ({ ...folder, pass: compose(stepsOf(folder.limits)) }));

  const findWay = (path: string): Way | undefined => {
    const way = ways.get(path);
    if (way) return way;
    const family = families.find(({ pattern }) => pattern.test(path));
    return family && wayTo(path, { ...family, steps: family.steps(path) });
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
      const page = pages.find((each) => path === each.path || path.startsWith(`${each.path}/`));
      if (page) return page.pass(ctx, () => page.serve(ctx, path.slice(page.path.length + 1)));
      const way = findWay(path);
      if (!way) return next();
      if (ctx.method === 'OPTIONS') return way.preflight(ctx, end);
      if (way.methods.includes(ctx.method === 'HEAD' ? 'GET' : ctx.method))
        return noteTolerated(ctx, tolerances, () => way.pass(ctx, end));
      ctx.set('Allow', [...way.methods, 'OPTIONS'].join(', '));
      answerWithOAuthError(ctx, 405, 'invalid_request', `use ${way.methods.join(' or ')} here`);
    },
  };
}

const stepsOf = (limits: readonly EndpointLimit[]): Step[] => limits.map(({ step }) => step);

/** Responds to a preflight request of a page; a page without permission gets no CORS headers. */
function preflightSteps({ steps }: Endpoint): Step[] {
  return steps.filter((step) => step === refuseOpaqueOrigin);
}
