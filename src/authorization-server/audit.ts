import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Logger } from '../observability/logger.ts';
import { loggable } from '../observability/logger.ts';

/** What can happen that an operator may have to account for (T-197). */
export type AuditEvent =
  | 'login.succeeded'
  | 'login.failed'
  | 'login.throttled'
  | 'consent.granted'
  | 'consent.denied'
  | 'client.registered'
  | 'client.document_refused'
  | 'token.issued'
  | 'token.reuse_detected'
  | 'token.refused'
  | 'grant.revoked';

/** Writes one audit line. Details hold names and reasons, never a secret. */
export type AuditLog = (
  event: AuditEvent,
  ctx: Context,
  details?: Record<string, string | undefined>,
) => void;

/**
 * Creates the audit log over the logger: one JSON line an event, with the principal, the client and the address as
 * far as they are known.
 * @param count counts the event
 */
export function createAuditLog(logger: Logger, count: (event: AuditEvent) => void): AuditLog {
  return (event, ctx, details = {}) => {
    const entities = (ctx as Partial<KoaContextWithOIDC>).oidc?.entities;
    count(event);
    logger.info({
      audit: event,
      requestId: ctx.state.requestId,
      address: ctx.state.clientAddress,
      clientId: entities?.Client?.clientId,
      accountId: (entities?.Account ?? entities?.RefreshToken ?? entities?.AccessToken)?.accountId,
      ...Object.fromEntries(Object.entries(details).map(([name, value]) => [name, loggable(value)])),
    });
  };
}
