import type { Logger } from '../observability/logger.ts';
import type { AuditEntry, AuditStore } from '../storage/audit.ts';
import { createAuditTally } from './audit-tally.ts';
import { currentWriteSet } from './engine/write-set.ts';

/**
 * Takes note of an event.
 * @param details who, where and why, by name; never a secret
 * @param say says it in the log, once it is a fact
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
   * Takes note of what anybody can cause, whatever becomes of the commit of the request: of the first of its kind by
   * itself, and of the number of those that follow within ten minutes in one row. Each is said at once.
   */
  tally: Note;
  /**
   * Writes what was counted, and from now on each event by itself and without delay.
   * @returns a promise that resolves when everything noted so far is kept, or is known not to be
   */
  close(): Promise<void>;
}

/** What a trail is made of. */
export interface AuditTrailOptions {
  store: Pick<AuditStore, 'append'>;
  logger: Pick<Logger, 'error'>;
  /** Epoch seconds. */
  now: () => number;
}

/** How long notes without a commit of their own wait for others, in milliseconds: a flood of them costs few writes. */
const gatherMs = 50;

/** Most notes that wait; where the database takes none for long, the oldest stand in the log alone. */
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
