import type { Context } from 'koa';

/** What of the engine's refusals is read here. */
interface GrantRefusal {
  error: string;
  error_detail?: string;
  /** Scopes that were asked for and cannot be had. */
  scope?: unknown;
  cause?: unknown;
}

/** The one detail of the engine's that differs from client to client. */
const expiredSecret = /^client_id \S+ client_secret expired at \d+$/;

/** Names as resources have them, separated by blanks. */
const readableScopes = /^[\w:./-]{1,40}( [\w:./-]{1,40}){0,9}$/;

/** The code of an error, which is one of a few names; undefined where it has none. */
function codeOf(cause: unknown): string | undefined {
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^ERR_[A-Z_]+$/.test(code) ? code : undefined;
}

/**
 * Why the engine refused a grant or a client, as far as it knows. Nothing of what was sent is in it: where something could
 * not be read or verified, the message of its reader may quote it, and the code of the error stands for that; only the
 * verifier of a code is compared, not read. Scopes are named if they are short: no secret is a scope (FA-50).
 */
function engineReason({ error, error_detail: detail, scope, cause }: GrantRefusal): string | undefined {
  if (error === 'invalid_scope' && typeof scope === 'string' && readableScopes.test(scope))
    return `not granted: ${scope}`;
  if (cause !== undefined && error !== 'invalid_grant') return codeOf(cause);
  return detail !== undefined && expiredSecret.test(detail) ? 'client secret has expired' : detail;
}

/**
 * Notes why we refuse a request that the engine does not refuse.
 * @param reason always the same one, with nothing of what was sent
 */
export function noteReason(ctx: Context, reason: string): void {
  ctx.state.refusalReason = reason;
}

/** Gives why a token request was refused, for the audit log alone; undefined where that is not known. */
export function reasonOf(ctx: Context): string | undefined {
  const { refusalReason, grantError } = ctx.state as { refusalReason?: string; grantError?: GrantRefusal };
  return refusalReason ?? (grantError && engineReason(grantError));
}
