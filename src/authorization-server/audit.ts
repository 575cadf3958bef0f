import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type Logger, loggable } from '../observability/logger.ts';
import type { AuditTrail } from './audit-trail.ts';

/** Events that an operator may have to account for (T-197). */
export type AuditEvent =
  | 'login.succeeded'
  | 'login.failed'
  | 'login.throttled'
  | 'login.ended'
  | 'account.password_changed'
  | 'account.password_reset'
  | 'account.passkey_added'
  | 'account.passkey_renamed'
  | 'account.passkey_removed'
  | 'account.codes_on'
  | 'account.codes_off'
  | 'account.recovery_codes_made'
  | 'account.credential_entered'
  | 'account.credential_removed'
  | 'mcp_session.ended'
  | 'consent.granted'
  | 'consent.denied'
  | 'device.claimed'
  | 'device.denied'
  | 'device.throttled'
  | 'session.ended'
  | 'client.registered'
  | 'client.registration_refused'
  | 'client.updated'
  | 'client.deleted'
  | 'client.document_refused'
  | 'token.issued'
  | 'token.reuse_detected'
  | 'token.repeated'
  | 'token.refused'
  | 'limit.reached'
  | 'token.exchanged'
  | 'identity.accepted'
  | 'workload.accepted'
  | 'account.linked'
  | 'account.unlinked'
  | 'account.created'
  | 'upstream.begun'
  | 'upstream.refused'
  | 'definition.changed'
  | 'grant.revoked';

/** Events that a caller without any access can cause. */
const causedByAnybody: ReadonlySet<AuditEvent> = new Set<AuditEvent>([
  'client.document_refused',
  'client.registration_refused',
  'device.throttled',
  'limit.reached',
  'login.failed',
  'login.throttled',
  'token.refused',
  'upstream.refused',
]);

/** Events that users also cause before they are identified. */
const causedByStrangers: ReadonlySet<AuditEvent> = new Set<AuditEvent>([
  'consent.denied',
  'device.claimed',
  'device.denied',
  'session.ended',
  'upstream.begun',
]);

/** Takes note of one event. Details hold names and reasons, never a secret. */
export type AuditLog = (
  event: AuditEvent,
  ctx: Context,
  details?: Record<string, string | undefined>,
) => void;

/**
 * Creates the audit log: one JSON line and one row of the database an event, with the principal, the client and the
 * address as far as they are known. What needs no credentials has a line each, and few rows (T-197).
 * @param count counts the event
 * @param trail keeps the rows
 */
export function createAuditLog(
  logger: Logger,
  count: (event: AuditEvent) => void,
  trail: AuditTrail,
): AuditLog {
  return (event, ctx, details = {}) => {
    const entities = (ctx as Partial<KoaContextWithOIDC>).oidc?.entities;
    const known = {
      requestId: ctx.state.requestId,
      address: ctx.state.clientAddress,
      clientId: entities?.Client?.clientId,
      accountId: (entities?.Account ?? entities?.RefreshToken ?? entities?.AccessToken)?.accountId,
      ...Object.fromEntries(Object.entries(details).map(([name, value]) => [name, loggable(value)])),
    };
    const isByStranger = known.accountId === undefined && causedByStrangers.has(event);
    const take = isByStranger || causedByAnybody.has(event) ? trail.tally : trail.note;
    take(event, known, () => {
      count(event);
      logger.info({ audit: event, ...known });
    });
  };
}
