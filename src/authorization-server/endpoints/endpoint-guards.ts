import type { Context, Next } from 'koa';
import type { AuditLog } from '../audit.ts';
import type { EndpointLimit } from '../limits.ts';

/** A step of an endpoint: answers, or hands on to the next. */
export type Step = (ctx: Context, next: Next) => Promise<void>;

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

/** The token endpoint has no 403: a client that may not be used is told so with 400 (RFC 6749 section 5.2). */
export const refuseWith400: Step = async (ctx, next) => {
  await next();
  if (ctx.status === 403) ctx.status = 400;
};

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

/** Error codes that tell a polling device to wait (RFC 8628 section 3.5); they are no failures. */
const waitingErrors = ['authorization_pending', 'slow_down'];

/**
 * Notes in the audit log that a token request was refused, with which error and, as far as it is known, why.
 * A device that waits is not refused.
 */
export function auditTokenRefusal(audit: AuditLog): Step {
  return async (ctx, next) => {
    await next();
    const error = errorOf(ctx);
    if (error === undefined || waitingErrors.includes(error)) return;
    audit('token.refused', ctx, { error, reason: reasonOf(ctx) });
  };
}

/** The fields of the engine's rejections that are read here. */
interface GrantRefusal {
  error: string;
  error_detail?: string;
  /** Scopes that were asked for and cannot be had. */
  scope?: unknown;
  cause?: unknown;
}

/** A detail of the engine's errors that contains a client id. */
const expiredSecret = /^client_id \S+ client_secret expired at \d+$/;

/** Names as resources have them, separated by blanks. */
const readableScopes = /^[\w:./-]{1,40}( [\w:./-]{1,40}){0,9}$/;

/** Returns the code of an error if it is one of a few known names. */
function codeOf(cause: unknown): string | undefined {
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^ERR_[A-Z_]+$/.test(code) ? code : undefined;
}

/**
 * Returns the engine's reason for rejecting a grant or a client. The reason holds nothing that the client sent: if a
 * value could not be parsed or verified, the parser's message may quote it, and the error code stands in its place. The
 * verifier of a code is only compared, never parsed. Short scopes are named, since no secret is a scope (FA-50).
 */
function engineReason({ error, error_detail: detail, scope, cause }: GrantRefusal): string | undefined {
  if (error === 'invalid_scope' && typeof scope === 'string' && readableScopes.test(scope))
    return `not granted: ${scope}`;
  if (cause !== undefined && error !== 'invalid_grant') return codeOf(cause);
  return detail !== undefined && expiredSecret.test(detail) ? 'client secret has expired' : detail;
}

/**
 * Sets the logged reason for a request that Gatehouse rejects and the engine would not.
 * @param reason a constant; it contains nothing of the request
 */
export function noteReason(ctx: Context, reason: string): void {
  ctx.state.refusalReason = reason;
}

/** Returns the reason why a token request was rejected, for the audit log only; undefined if it is not known. */
export function reasonOf(ctx: Context): string | undefined {
  const { refusalReason, grantError } = ctx.state as { refusalReason?: string; grantError?: GrantRefusal };
  return refusalReason ?? (grantError && engineReason(grantError));
}
