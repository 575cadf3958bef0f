import { type ChainFault, checkChain } from '../../crypto/audit-chain.ts';
import type { AuditEnd, AuditQuery, AuditStore } from '../../storage/audit.ts';

/** An event of the audit log. */
export interface AuditRecord {
  seq: number;
  /** Epoch seconds. */
  at: number;
  event: string;
  details: Record<string, string>;
  hash: string;
}

/** Result of the check of the audit log. */
export interface AuditVerdict {
  /** True if no change was found. */
  isWhole: boolean;
  /** Number of rows. */
  rows: number;
  /** The last row: to note elsewhere, and to check against later. */
  head: { seq: number; hash: string } | undefined;
  /** The last row that was dropped for its age. */
  droppedUpTo: number;
  faults: ChainFault[];
}

/** Maximum number of attempts of a check that restarts because old rows were deleted meanwhile. */
const maxAttempts = 3;

/** Rows read at once. */
const batchSize = 1000;

/** Maximum number of reported faults. */
const maxFaults = 100;

/**
 * Operations on the audit log.
 * @param key binds its rows
 */
export function administerAudit(store: AuditStore, key: () => string) {
  async function* rows(query: Omit<AuditQuery, 'limit' | 'newestFirst'>) {
    let after = query.after ?? 0;
    for (;;) {
      const batch = await store.read({ ...query, after, limit: batchSize });
      yield* batch;
      after = batch.at(-1)?.seq ?? after;
      if (batch.length < batchSize) return;
    }
  }
  const toRecord = ({
    seq,
    at,
    event,
    details,
    hash,
  }: { details: string } & Omit<AuditRecord, 'details'>) => ({
    seq,
    at,
    event,
    details: JSON.parse(details) as Record<string, string>,
    hash,
  });

  /** Reads until the log does not grow any more, so that what is written meanwhile is no fault. */
  async function check(start: AuditEnd | undefined, known?: { seq: number; hash: string }) {
    const checking = checkChain(key(), start, known);
    let count = 0;
    let last = start?.seq ?? 0;
    for (;;) {
      const before = last;
      for await (const row of rows({ after: last })) {
        checking.add(row);
        count++;
        last = row.seq;
      }
      const { start: startNow, head } = await store.ends();
      if (last !== before && (head?.seq ?? 0) > last) continue;
      const faults = checking.finish(head);
      const verdict: AuditVerdict = {
        isWhole: faults.length === 0,
        rows: count,
        head: head && { seq: head.seq, hash: head.hash },
        droppedUpTo: start?.seq ?? 0,
        faults: faults.slice(0, maxFaults),
      };
      return { verdict, startNow: startNow?.seq };
    }
  }

  return {
    /** Returns the newest events that fit, the newest last. */
    async list(query: AuditQuery): Promise<AuditRecord[]> {
      return (await store.read({ ...query, newestFirst: true })).map(toRecord).reverse();
    },
    /** Returns all events that fit, the oldest first. */
    async *read(query: Omit<AuditQuery, 'limit' | 'newestFirst'>): AsyncGenerator<AuditRecord> {
      for await (const row of rows(query)) yield toRecord(row);
    },
    /**
     * Checks that no row was changed, removed, added or put elsewhere since it was written.
     * @param known a head noted elsewhere: a log that was put back to an earlier state as a whole does not have it
     */
    async verify(known?: { seq: number; hash: string }): Promise<AuditVerdict> {
      for (let attempt = 1; ; attempt++) {
        const { start } = await store.ends();
        const { verdict, startNow } = await check(start, known);
        // Rows that were dropped for their age meanwhile are no fault.
        if (startNow === start?.seq || attempt === maxAttempts) return verdict;
      }
    },
  };
}
