import type { Context } from 'koa';

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
