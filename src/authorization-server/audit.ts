import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { loggable } from '../observability/loggable.ts';
import type { Logger } from '../observability/logger.ts';
import type { AuditEntry, AuditStore } from '../storage/audit.ts';
import { createAuditTally } from './audit-tally.ts';
import { currentWriteSet } from './engine/write-set.ts';

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

/**
 * Records an event.
 * @param details account, client, address and reason, by name; never a secret
 * @param say writes the log line once the event is committed
 */
export type Note = (
  event: string,
  details: Readonly<Record<string, string | undefined>>,
  say?: () => void,
) => void;

/** Keeps what happened, in the database. */
export interface AuditTrail {
  /**
   * Takes note of what happens in a request, in the same commit as what the request writes, and of anything else right
   * behind it: also of what a request has begun and did not wait for.
   */
  note: Note;
  /**
   * Records events that anybody can cause, even if the request is not committed. The first event of a kind has its own
   * row. Those of the next ten minutes share one row with their number. Each is logged at once.
   */
  tally: Note;
  /**
   * Writes what was counted, and from now on each event by itself and without delay.
   * @returns a promise that resolves when everything noted so far is kept, or is known not to be
   */
  close(): Promise<void>;
}

/** Options of an audit trail. */
export interface AuditTrailOptions {
  store: Pick<AuditStore, 'append'>;
  logger: Pick<Logger, 'error'>;
  /** Epoch seconds. */
  now: () => number;
}

/** Milliseconds that events without a commit of their own wait for others, so that a flood of them costs few writes. */
const gatherMs = 50;

/** Maximum number of waiting events; if the database is unavailable for long, the oldest are in the log only. */
const maxWaiting = 10_000;

function withoutGaps(details: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given = Object.entries(details).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given);
}

/** Creates the trail over the audit log of the storage (T-197). */
export function createAuditTrail({ store, logger, now }: AuditTrailOptions): AuditTrail {
  let waiting: AuditEntry[] = [];
  let writing: Promise<void> | undefined;
  let isClosed = false;

  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      if (!isClosed) await new Promise((resolve) => setTimeout(resolve, gatherMs));
      const entries = waiting;
      waiting = [];
      await store.append(entries).catch((error: unknown) => {
        logger.error({ err: error, entries: entries.length }, 'the audit log could not be written');
      });
    }
    writing = undefined;
  };

  const queue = (entry: AuditEntry): void => {
    if (waiting.length >= maxWaiting) waiting.shift();
    waiting.push(entry);
    writing ??= write();
  };
  const repeats = createAuditTally((event, details) => queue({ at: now(), event, details }));

  return {
    note(event, details, say = () => undefined) {
      const entry: AuditEntry = { at: now(), event, details: withoutGaps(details) };
      const writes = currentWriteSet();
      if (writes?.isOver === false) return writes.note(entry, say);
      say();
      queue(entry);
    },
    tally(event, details, say = () => undefined) {
      const entry: AuditEntry = { at: now(), event, details: withoutGaps(details) };
      say();
      if (isClosed || repeats.isFirst(event, entry.details)) queue(entry);
    },
    async close() {
      isClosed = true;
      repeats.end();
      while (writing) await writing;
    },
  };
}
