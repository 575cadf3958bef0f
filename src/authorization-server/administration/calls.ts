import {
  type CallChainFault,
  checkCallChain,
  contextOfArguments,
  createArgumentsBox,
  digestCalls,
} from '../../crypto/call-chain.ts';
import type { AuditStore } from '../../storage/audit.ts';
import {
  addToBuckets,
  type CallCount,
  type CallCounting,
  type CallEnd,
  type CallHour,
  type CallQuery,
  type CallRow,
  type CallStore,
  callBuckets,
  chainedValues,
} from '../../storage/calls.ts';
import type { RecordAction } from './recorded.ts';

/** A call of the ledger, for an operator. Its arguments are left out; `hasArguments` says if there are any. */
export type CallRecord = Omit<CallRow, 'arguments'> & { hasArguments: boolean };

/** Result of the check of the ledger. */
export interface CallsVerdict {
  /** True if no change was found. */
  isWhole: boolean;
  batches: number;
  calls: number;
  /** Calls that could not be recorded. */
  lost: number;
  /** Times at which a server ended without closing the ledger, epoch milliseconds: its last calls may be missing. */
  gaps: number[];
  /** Newest batch that the audit log confirms. */
  anchoredUpTo: number;
  /** The newest batch that was dropped for its age. */
  droppedUpTo: number;
  faults: CallChainFault[];
}

/** Parts of {@link administerCalls}. */
export interface CallsParts {
  calls: CallStore;
  audit: AuditStore;
  /** Returns the key of the audit log. */
  key: () => string;
  record: RecordAction;
}

/** Columns that the sums by hour have. */
type HourGroup = 'route' | 'backend' | 'method' | 'target' | 'client' | 'outcome';
type HourQuery = Pick<CallQuery, HourGroup | 'since' | 'until'>;

const batchSize = 500;
const maxFaults = 100;

/** Maximum number of attempts of a check that restarts because old batches were dropped meanwhile. */
const maxAttempts = 3;

const toRecord = ({ arguments: sealed, ...row }: CallRow): CallRecord => ({
  ...row,
  hasArguments: sealed !== null,
});

/** Operations on the call ledger. */
export function administerCalls({ calls, audit, key, record }: CallsParts) {
  async function* read(query: CallQuery): AsyncGenerator<CallRow> {
    for (let afterSeq = query.afterSeq ?? 0; ; ) {
      const rows = await calls.read({ ...query, afterSeq }, batchSize);
      yield* rows;
      afterSeq = rows.at(-1)?.seq ?? afterSeq;
      if (rows.length < batchSize) return;
    }
  }

  /** Returns the MACs that the audit log holds of the present ledger, by batch. */
  async function anchors(): Promise<Map<number, string>> {
    const known = new Map<number, string>();
    for (let after = 0; ; ) {
      const events = await audit.read({ event: 'calls.', after, limit: batchSize });
      for (const { event, details } of events) {
        const { batch, mac } = JSON.parse(details) as { batch?: string; mac?: string };
        if (event === 'calls.begun') known.clear();
        else if (event === 'calls.sealed' && mac !== undefined) known.set(Number(batch), mac);
      }
      after = events.at(-1)?.seq ?? after;
      if (events.length < batchSize) return known;
    }
  }

  async function check(start: CallEnd | undefined): Promise<CallsVerdict> {
    const known = await anchors();
    const checking = checkCallChain(key(), start, known);
    const sums = { batches: 0, calls: 0, lost: 0, gaps: [] as number[] };
    let last = { batch: start?.batch ?? 0, lastSeq: start?.lastSeq ?? 0 };
    for (;;) {
      const seals = await calls.seals(last.batch, batchSize);
      for (const seal of seals) {
        const rows = seal.calls > 0 ? await calls.read({ afterSeq: last.lastSeq }, seal.calls) : [];
        const own = rows.filter(({ seq }) => seq <= seal.lastSeq);
        checking.add(seal, { digest: digestCalls(own.map(chainedValues)), calls: own.length });
        sums.batches++;
        sums.calls += seal.calls;
        sums.lost += seal.lost;
        if (seal.gap !== null) sums.gaps.push(seal.at);
        last = seal;
      }
      if (seals.length === batchSize) continue;
      const { head } = await calls.ends();
      // What is written meanwhile is no fault.
      if (head && head.batch > last.batch && (await calls.seals(last.batch, 1)).length > 0) continue;
      const faults = checking.finish(head);
      return {
        isWhole: faults.length === 0,
        ...sums,
        anchoredUpTo: [...known.keys()].reduce((newest, batch) => Math.max(newest, batch), 0),
        droppedUpTo: start?.batch ?? 0,
        faults: faults.slice(0, maxFaults),
      };
    }
  }

  return {
    /** Returns the newest calls that fit, the newest last. */
    list: async (query: CallQuery, limit: number): Promise<CallRecord[]> =>
      (await calls.list(query, limit)).map(toRecord).reverse(),
    /** Returns all calls that fit, in the order in which they ended. */
    async *read(query: CallQuery): AsyncGenerator<CallRecord> {
      for await (const row of read(query)) yield toRecord(row);
    },
    /** Counts calls, the most frequent groups first. */
    count: (query: CallQuery, counting: CallCounting): Promise<CallCount[]> => calls.count(query, counting),
    /**
     * Counts calls by the sums of their hours, which are kept longer than the calls. Percentiles are upper bounds.
     * @param query reads the columns of the hours alone
     */
    async countHours(
      query: HourQuery,
      { by, limit }: Pick<CallCounting, 'limit'> & { by: readonly HourGroup[] },
    ) {
      const { since = 0, until = Number.MAX_SAFE_INTEGER, ...equal } = query;
      const fits = (hour: CallHour): boolean =>
        Object.entries(equal).every(
          ([name, value]) => value === undefined || hour[name as HourGroup] === value,
        );
      const sums = new Map<string, HourSum>();
      for (let after: CallHour | undefined; ; ) {
        const page = await calls.hours(since, until, batchSize, after);
        for (const hour of page) if (fits(hour)) addHour(sums, hour, by);
        after = page.at(-1);
        if (!after || page.length < batchSize) break;
      }
      return [...sums.values()]
        .sort((a, b) => b.calls - a.calls)
        .slice(0, limit)
        .map(({ buckets, ...sum }) => ({
          ...sum,
          times: { p50: boundOf(buckets, 0.5), p95: boundOf(buckets, 0.95), p99: boundOf(buckets, 0.99) },
        }));
    },
    /**
     * Returns the kept arguments of a call, which is noted in the audit log.
     * @returns undefined if none were kept
     * @throws SealBroken if they were changed
     */
    async showArguments(seq: number): Promise<unknown> {
      const [row] = await calls.read({ afterSeq: seq - 1 }, 1);
      if (row?.seq !== seq || row.arguments === null) return undefined;
      await record('calls.arguments_shown', {
        seq: String(seq),
        accountId: row.account,
        clientId: row.client,
      });
      return JSON.parse(createArgumentsBox(key()).open(row.arguments, contextOfArguments(row))) as unknown;
    },
    /** Checks that no call was changed, removed or added, by the chain of batches and its marks in the audit log. */
    async verify(): Promise<CallsVerdict> {
      for (let attempt = 1; ; attempt++) {
        const { start } = await calls.ends();
        const verdict = await check(start);
        const { start: startNow } = await calls.ends();
        if (startNow?.batch === start?.batch || attempt === maxAttempts) return verdict;
      }
    },
  };
}

/** Calls of one group over some hours. */
interface HourSum extends Omit<CallCount, 'accounts' | 'times'> {
  /** Calls by `callBuckets`. */
  buckets: number[];
}

/** Adds an hour to the sum of its group. */
function addHour(sums: Map<string, HourSum>, hour: CallHour, by: readonly HourGroup[]): void {
  const { hour: at, outcome, calls, bytesOut, buckets } = hour;
  const key = JSON.stringify(by.map((name) => hour[name]));
  const before = sums.get(key);
  const sum = before ?? {
    group: Object.fromEntries(by.map((name) => [name, hour[name] === '' ? null : hour[name]])),
    ...{ calls: 0, failed: 0, refused: 0, firstAt: at, lastAt: at, bytesOut: 0, buckets: [] },
  };
  sum.calls += calls;
  if (outcome === 'refused') sum.refused += calls;
  else if (outcome !== 'ok') sum.failed += calls;
  sum.firstAt = Math.min(sum.firstAt, at);
  sum.lastAt = Math.max(sum.lastAt, at);
  sum.bytesOut += bytesOut;
  sum.buckets = addToBuckets(sum.buckets, buckets);
  if (!before) sums.set(key, sum);
}

/** Returns the bound of the bucket that a share of the calls did not exceed; null beyond the last bound. */
function boundOf(buckets: readonly number[], share: number): number | null {
  const all = buckets.reduce((sum, calls) => sum + calls, 0);
  let seen = 0;
  const at = buckets.findIndex((calls) => {
    seen += calls;
    return seen >= all * share;
  });
  return callBuckets[at] ?? null;
}
