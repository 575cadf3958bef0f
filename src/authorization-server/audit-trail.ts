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
   * Takes note of what anybody can cause: of the first of its kind as of anything else, and of the number of those that
   * follow within ten minutes in one row. Each is said.
   */
  tally: Note;
  /** Resolves when everything noted and counted so far is kept, or is known not to be. */
  idle(): Promise<void>;
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

  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, gatherMs));
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

  const take = (entry: AuditEntry | undefined, say: () => void): void => {
    const writes = currentWriteSet();
    if (writes?.isOver === false) writes.note(entry, say);
    else {
      say();
      if (entry) queue(entry);
    }
  };

  return {
    note(event, details, say = () => undefined) {
      take({ at: now(), event, details: withoutGaps(details) }, say);
    },
    tally(event, details, say = () => undefined) {
      const entry: AuditEntry = { at: now(), event, details: withoutGaps(details) };
      take(repeats.isFirst(event, entry.details) ? entry : undefined, say);
    },
    async idle() {
      repeats.end();
      while (writing) await writing;
    },
  };
}
