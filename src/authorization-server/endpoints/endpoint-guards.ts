import type { Context, Next } from 'koa';
import type { EndpointLimit } from '../limits.ts';

/** A step of an endpoint: answers, or hands on to the next. */
export type Step = (ctx: Context, next: Next) => Promise<void>;

/** A page without an origin (a sandboxed frame, a local file) is nobody in particular (T-039). */
export const refuseOpaqueOrigin: Step = async (ctx, next) => {
  if (ctx.get('Origin') !== 'null') return next();
  ctx.vary('Origin');
  answerWithOAuthError(ctx, 400, 'invalid_request', 'pages without an origin may not call this endpoint');
};

/** Nothing here is for a cache (RFC 6749 section 5.1). */
export const neverStore: Step = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  await next();
};

/**
 * Adds a challenge to every 401 (RFC 9110 section 15.5.2); the engine adds one only if the client used that scheme
 * (T-047).
 */
export function nameScheme(issuer: string): Step {
  return async (ctx, next) => {
    await next();
    if (ctx.status === 401 && !ctx.response.get('WWW-Authenticate'))
      ctx.set('WWW-Authenticate', `Basic realm="${issuer}", error="invalid_client"`);
  };
}

/** A request that is at fault itself: its parameters, its client, or its body, which is too large or in a wrong format. */
const refusals: readonly number[] = [400, 401, 413, 415];

/**
 * Returns the OAuth error code of a response, or undefined if the response is no error.
 * @param ctx with the response
 */
export function errorOf(ctx: Context): string | undefined {
  if (!refusals.includes(ctx.status)) return undefined;
  return String((ctx.body as { error?: unknown } | null)?.error);
}

/** An endpoint: its methods, its limits, and every step of a request to it in order. */
export interface Endpoint {
  methods: readonly string[];
  /** Limits of the request rate, checked before the steps. Each endpoint has at least one. */
  limits: readonly [EndpointLimit, ...EndpointLimit[]];
  steps: readonly Step[];
}

/** Endpoints that differ in their path alone. */
export interface EndpointFamily extends Omit<Endpoint, 'steps'> {
  /** The path, with `<…>` for the part that varies. */
  path: string;
  pattern: RegExp;
  steps: (path: string) => readonly Step[];
}

/**
 * Answers with an OAuth error (RFC 6749 section 5.2): JSON, never stored.
 * @param error the standard's code
 * @param description a sentence in ASCII, for developers
 */
export function answerWithOAuthError(ctx: Context, status: number, error: string, description: string): void {
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  ctx.body = { error, error_description: description };
}
