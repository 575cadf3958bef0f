import { setTimeout as sleep } from 'node:timers/promises';
import { proveCallEnd, sealBatch } from '../../../crypto/call-chain.ts';
import {
  type CallBatch,
  type CallCondition,
  type CallCount,
  type CallCounting,
  type CallCursor,
  type CallEnd,
  type CallEntry,
  type CallHour,
  type CallQuery,
  type CallRetention,
  type CallRow,
  type CallSeal,
  type CallStore,
  type CallWriter,
  callColumns,
  callHourKey,
  chainedValues,
  conditionsOf,
  type DropResult,
  dropBatches,
  droppedAtOnce,
  type ExportPosition,
  type ExportStore,
  findDroppable,
  hoursOf,
  type LedgerPosition,
  longestExportLeaseMs,
  toStorable,
} from '../../calls.ts';
import { StorageUnavailable } from '../../storage.ts';
import {
  type ConnectionOptions,
  type Database,
  ledgerConnections,
  openPool,
  openTransactionPool,
  type Statements,
  type TransactionPool,
  type Value,
} from '../connection/database.ts';
import { CommitUnknown } from '../connection/errors.ts';
import type { Writer } from '../connection/writer.ts';

/**
 * Settings of a transaction. A node that stalls loses it, as all nodes wait for the end of the chain. The server gives up
 * before the client does.
 */
const limits = `SET LOCAL lock_timeout = '4s'; SET LOCAL statement_timeout = '4s';
  SET LOCAL idle_in_transaction_session_timeout = '2s'`;

/** A crash of the server may lose such commits of its last second, the newest first. */
const withoutFlush = `${limits}; SET LOCAL synchronous_commit = off`;

/** Time in which the outcome of a commit is found, and pause between attempts, in milliseconds. */
const findingOutcome = { totalMs: 5_000, pauseMs: 50 } as const;

const types: Readonly<Record<keyof CallRow, 'bigint' | 'text' | 'boolean' | 'bytea'>> = {
  ...{ seq: 'bigint', at: 'bigint', code: 'bigint', ms: 'bigint', bytesIn: 'bigint', bytesOut: 'bigint' },
  ...{ cached: 'boolean', retried: 'boolean', arguments: 'bytea' },
  ...{ account: 'text', client: 'text', grant: 'text', route: 'text', backend: 'text', credential: 'text' },
  ...{ transport: 'text', revision: 'text', method: 'text', target: 'text', definition: 'text' },
  ...{ argumentsHash: 'text', argumentNames: 'text', outcome: 'text', reason: 'text', requestId: 'text' },
  ...{ traceId: 'text', actor: 'text', generation: 'bigint', waitMs: 'bigint' },
};

const names = Object.keys(callColumns) as (keyof CallRow)[];
const columnList = names.map((name) => `${callColumns[name]} AS "${name}"`).join(', ');
const sealColumns = 'batch, at, last_seq AS "lastSeq", calls, lost, gap, digest, mac';
const endColumns = 'batch, last_seq AS "lastSeq", mac, proof';

const sql = {
  insert: `INSERT INTO calls (${names.map((name) => callColumns[name]).join(', ')})
     SELECT * FROM unnest(${names.map((name, index) => `$${index + 1}::${types[name]}[]`).join(', ')})`,
  addHours: `INSERT INTO call_hours (${callHourKey.join(', ')}, calls, ms, bytes_out, buckets)
     SELECT ${callHourKey.join(', ')}, calls, ms, bytes_out, buckets::integer[]
       FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
         $8::bigint[], $9::bigint[], $10::bigint[], $11::text[])
         AS added (${callHourKey.join(', ')}, calls, ms, bytes_out, buckets)
     ON CONFLICT (${callHourKey.join(', ')}) DO UPDATE SET
       calls = call_hours.calls + excluded.calls, ms = call_hours.ms + excluded.ms,
       bytes_out = call_hours.bytes_out + excluded.bytes_out,
       buckets = ARRAY(SELECT coalesce(present, 0) + coalesce(added, 0)
         FROM unnest(call_hours.buckets, excluded.buckets) WITH ORDINALITY AS pairs (present, added, place)
         ORDER BY place)`,
  putSeal: `INSERT INTO call_seals (batch, at, last_seq, calls, lost, gap, digest, mac)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
  findSeal: 'SELECT mac FROM call_seals WHERE batch = $1',
  seals: `SELECT ${sealColumns} FROM call_seals WHERE batch > $1 ORDER BY batch LIMIT $2`,
  // Batch 0 is none: its row is there to be locked.
  ends: `SELECT name, ${endColumns} FROM call_ends WHERE batch > 0`,
  findEnd: `SELECT ${endColumns} FROM call_ends WHERE name = $1`,
  lockEnd: `SELECT ${endColumns} FROM call_ends WHERE name = $1 FOR UPDATE`,
  putEnd: `INSERT INTO call_ends (name, batch, last_seq, mac, proof) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (name) DO UPDATE
     SET batch = excluded.batch, last_seq = excluded.last_seq, mac = excluded.mac, proof = excluded.proof`,
  // From where the calls before end: what was dropped stays in the index until it is vacuumed.
  dropCalls: 'DELETE FROM calls WHERE seq > $1 AND seq <= $2',
  dropSeals: 'DELETE FROM call_seals WHERE batch > $1 AND batch <= $2',
  dropHours: 'DELETE FROM call_hours WHERE hour < $1',
  hours: `SELECT ${callHourKey.join(', ')}, calls, ms, bytes_out AS "bytesOut", buckets
     FROM call_hours WHERE hour >= $1 AND hour < $2
       AND (${callHourKey.join(', ')}) > ($4, $5, $6, $7, $8, $9, $10)
     ORDER BY ${callHourKey.join(', ')} LIMIT $3`,
  beat: `WITH beaten AS (
       INSERT INTO call_writers (writer, beat_at) VALUES ($1, $2)
       ON CONFLICT (writer) DO UPDATE SET beat_at = excluded.beat_at)
     SELECT writer, beat_at AS "beatAt" FROM call_writers WHERE writer <> $1`,
  leave: 'DELETE FROM call_writers WHERE writer = $1',
  ledger: 'SELECT id FROM call_ledger',
  countRead: 'UPDATE call_ledger SET reads = reads + 1',
  isExportTaken: `SELECT 1 AS taken FROM call_exports
     WHERE name = $1 AND writer <> $2 AND taken_until BETWEEN $3 AND $4`,
  takeExport: `INSERT INTO call_exports (name, writer, taken_until, calls, audit) VALUES ($1, $2, $3, 0, 0)
     ON CONFLICT (name) DO UPDATE SET writer = excluded.writer, taken_until = excluded.taken_until
     RETURNING ledger, calls, audit`,
  saveExport: `UPDATE call_exports SET ledger = $3, calls = $4, audit = $5 WHERE name = $1 AND writer = $2`,
} as const;

/** Both ends of an empty chain. */
const none: Omit<CallEnd, 'proof'> = { batch: 0, lastSeq: 0, mac: '' };

/**
 * Opens the call ledger of a PostgreSQL database: one chain over all nodes, as each locks its head to append. It has
 * connections of its own, so that calls and logins do not wait for each other.
 * @param keys holds the key that authenticates the batches; read for each batch
 */
export function openCallStore(options: ConnectionOptions, keys: { readonly audit: string }): CallStore {
  const recording = openTransactionPool({ ...options, poolSize: ledgerConnections });
  // Conditions differ from query to query: nothing is prepared, and each plan fits its values.
  const reading = openPool({ ...options, poolSize: ledgerConnections, pooled: true });

  const putEnd = (
    tx: Statements,
    name: 'start' | 'head',
    { batch, lastSeq, mac }: CallSeal,
  ): Promise<number> =>
    tx.run(sql.putEnd, [
      ...[name, batch, lastSeq, mac, proveCallEnd(keys.audit, name, { batch, lastSeq, mac })],
    ]);

  const write = async (tx: Statements, rows: readonly CallRow[], seal: CallSeal): Promise<void> => {
    const { batch, at, lastSeq, calls, lost, gap, digest, mac } = seal;
    await Promise.all([
      tx.run(
        sql.insert,
        names.map((name) => rows.map((row) => row[name])),
      ),
      tx.run(sql.addHours, toHourColumns(rows)),
      tx.run(sql.putSeal, [batch, at, lastSeq, calls, lost, gap, digest, mac]),
      putEnd(tx, 'head', seal),
    ]);
  };

  const isStored = async (tx: Statements, seal: CallSeal): Promise<boolean> =>
    (await tx.row<{ mac: string }>(sql.findSeal, [seal.batch]))?.mac === seal.mac;

  /** Seals of batches that may be stored: the connection was lost in their commit, and the server is still away. */
  const undecided = new WeakMap<CallBatch, CallSeal>();

  /** Returns whether a batch was committed, once its transaction has ended. */
  const wasCommitted = async (seal: CallSeal): Promise<boolean> => {
    const deadline = performance.now() + findingOutcome.totalMs;
    for (;;) {
      try {
        return await recording.transact(limits, async (tx) => {
          await tx.row(sql.lockEnd, ['head']);
          return isStored(tx, seal);
        });
      } catch (cause) {
        if (performance.now() > deadline) throw new CommitUnknown({ cause });
        await sleep(findingOutcome.pauseMs);
      }
    }
  };

  const drop = (retention: CallRetention, later: CallSeal | undefined): Promise<DropResult> =>
    recording.transact(withoutFlush, async (tx) => {
      const start = (await tx.row<CallEnd>(sql.lockEnd, ['start'])) ?? none;
      const { lastSeq } = (await tx.row<CallEnd>(sql.findEnd, ['head'])) ?? none;
      const oldest = await tx.rows<CallSeal>(sql.seals, [start.batch, droppedAtOnce.batches]);
      const newest = findDroppable(oldest, lastSeq, retention, later).at(-1);
      if (!newest) return { kept: oldest[0] };
      await Promise.all([
        tx.run(sql.dropCalls, [start.lastSeq, newest.lastSeq]),
        tx.run(sql.dropSeals, [start.batch, newest.batch]),
        putEnd(tx, 'start', newest),
      ]);
      return { calls: newest.lastSeq - start.lastSeq };
    });

  const listSeals = (afterBatch: number, limit: number): Promise<CallSeal[]> =>
    reading.rows<CallSeal>(sql.seals, [afterBatch, limit]);

  const append = async (given: CallBatch, nowMs: number, isDurable: boolean): Promise<CallSeal> => {
    const { calls, lost } = given;
    const stored = calls.map(toStorable);
    const earlier = undecided.get(given);
    let seal: CallSeal | undefined;
    try {
      return await recording.transact(isDurable ? limits : withoutFlush, async (tx) => {
        // With this lock, an earlier attempt has ended.
        const last = (await tx.row<CallEnd>(sql.lockEnd, ['head'])) ?? none;
        if (earlier && (await isStored(tx, earlier))) return earlier;
        const rows = stored.map((call, index): CallRow => ({ ...call, seq: last.lastSeq + index + 1 }));
        seal = sealBatch(keys.audit, last, rows.map(chainedValues), { lost, gap: null, at: nowMs });
        await write(tx, rows, seal);
        return seal;
      });
    } catch (cause) {
      if (!(cause instanceof CommitUnknown) || !seal) throw cause;
      undecided.set(given, seal);
      if (await wasCommitted(seal)) return seal;
      undecided.delete(given);
      throw new StorageUnavailable('the database cannot be written at the moment', { cause });
    }
  };

  const recordEnd = (writer: string, nowMs: number): Promise<CallSeal | undefined> =>
    recording.transact(withoutFlush, async (tx) => {
      const last = (await tx.row<CallEnd>(sql.lockEnd, ['head'])) ?? none;
      if ((await tx.run(sql.leave, [writer])) === 0) return undefined;
      const seal = sealBatch(keys.audit, last, [], { lost: 0, gap: 'ended' as const, at: nowMs });
      await write(tx, [], seal);
      return seal;
    });

  const findEnds = async (): ReturnType<CallStore['ends']> => {
    const rows = await reading.rows<CallEnd & { name: 'start' | 'head' }>(sql.ends);
    const find = (wanted: 'start' | 'head'): CallEnd | undefined => {
      const { name: _name, ...end } = rows.find(({ name }) => name === wanted) ?? { name: undefined };
      return 'batch' in end ? end : undefined;
    };
    return { start: find('start'), head: find('head') };
  };

  const prune = async (retention: CallRetention): Promise<number> => {
    const removed = await dropBatches((later) => drop(retention, later), listSeals, retention.nowMs);
    await recording.run(sql.dropHours, [retention.hoursBefore]);
    return removed;
  };

  return {
    append: (batch, nowMs, isDurable) => use(append(batch, nowMs, isDurable)),
    list: (query, limit, before) => use(readRows(reading, 'at DESC, seq DESC', limit, query, before)),
    read: (query, limit) => use(readRows(reading, 'seq', limit, query)),
    readNext: (from, limit) => use(readNext(reading, recording, from, limit)),
    count: (query, counting) => use(count(reading, query, counting)),
    hours(sinceMs, untilMs, limit, after) {
      // All hours are behind an empty route.
      const key = after ? callHourKey.map((name) => after[name]) : [sinceMs, '', '', '', '', '', ''];
      return use(reading.rows<CallHour>(sql.hours, [sinceMs, untilMs, limit, ...key]));
    },
    seals: (afterBatch, limit) => use(listSeals(afterBatch, limit)),
    ends: () => use(findEnds()),
    prune: (retention) => use(prune(retention)),
    beat: (writer, nowMs) =>
      use(recording.transact(withoutFlush, (tx) => tx.rows<CallWriter>(sql.beat, [writer, nowMs]))),
    leave: async (writer) => void (await use(recording.run(sql.leave, [writer]))),
    recordEnd: (writer, nowMs) => use(recordEnd(writer, nowMs)),
    async close() {
      await Promise.all([recording.close(), reading.close()]);
    },
  };
}

/** The ledger fails by itself, whatever the fault. @throws StorageUnavailable */
async function use<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (cause) {
    if (cause instanceof StorageUnavailable) throw cause;
    throw new StorageUnavailable('the call ledger cannot be used at the moment', { cause });
  }
}

function toHourColumns(calls: readonly CallEntry[]): Value[] {
  const hours = hoursOf(calls);
  return [
    ...callHourKey.map((name) => hours.map((hour) => hour[name])),
    hours.map((hour) => hour.calls),
    hours.map(({ ms }) => ms),
    hours.map(({ bytesOut }) => bytesOut),
    hours.map(({ buckets }) => `{${buckets.join(',')}}`),
  ];
}

async function readNext(
  db: Pick<Database, 'row' | 'rows'>,
  recording: TransactionPool,
  from: LedgerPosition,
  limit: number,
): ReturnType<CallStore['readNext']> {
  const { id: ledger } = (await db.row<{ id: string }>(sql.ledger)) ?? { id: '' };
  const afterSeq = from.ledger === ledger ? from.calls : 0;
  const calls = await readRows(db, 'seq', limit, { afterSeq });
  if (calls.length > 0) await recording.transact(limits, (tx) => tx.run(sql.countRead));
  return { ledger, calls };
}

function readRows(
  db: Pick<Database, 'rows'>,
  order: string,
  limit: number,
  query: CallQuery,
  before?: CallCursor,
): Promise<CallRow[]> {
  const { where, values } = toWhere(conditionsOf(query, before));
  return db.rows<CallRow>(
    `SELECT ${columnList} FROM calls ${where} ORDER BY ${order} LIMIT $${values.length + 1}`,
    [...values, limit],
  );
}

/** A row of {@link count}, with the columns of its group. */
type Counted = Omit<CallCount, 'group' | 'times'> & { times?: number[] } & Record<
    `g_${string}`,
    string | null
  >;

async function count(
  db: Pick<Database, 'rows'>,
  query: CallQuery,
  { by, limit, withTimes = false, newest }: CallCounting,
): Promise<CallCount[]> {
  const { where, values } = toWhere(conditionsOf(query));
  const from =
    newest === undefined
      ? `calls ${where}`
      : `(SELECT * FROM calls ${where} ORDER BY at DESC LIMIT ${newest}) AS calls`;
  const groups = by.map((name) => callColumns[name]);
  const columns = [
    ...by.map((name) => `${callColumns[name]} AS "g_${name}"`),
    `count(*) AS calls, count(*) FILTER (WHERE outcome NOT IN ('ok', 'refused')) AS failed,
     count(*) FILTER (WHERE outcome = 'refused') AS refused, count(DISTINCT account) AS accounts,
     min(at) AS "firstAt", max(at) AS "lastAt", sum(bytes_out)::bigint AS "bytesOut"`,
    ...(withTimes
      ? ['percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY ms)::float8[] AS times']
      : []),
  ];
  const rows = await db.rows<Counted>(
    `SELECT ${columns.join(', ')} FROM ${from} ${groups.length === 0 ? '' : `GROUP BY ${groups.join(', ')}`}
     HAVING count(*) > 0 ORDER BY calls DESC, "lastAt" DESC LIMIT $${values.length + 1}`,
    [...values, limit],
  );
  return rows.map((row) => {
    const group = Object.fromEntries(by.map((name) => [name, row[`g_${name}`] ?? null]));
    const { calls, failed, refused, accounts, firstAt, lastAt, bytesOut } = row;
    const counted = { group, calls, failed, refused, accounts, firstAt, lastAt, bytesOut };
    const [p50 = 0, p95 = 0, p99 = 0] = row.times ?? [];
    return withTimes ? { ...counted, times: { p50, p95, p99 } } : counted;
  });
}

function toWhere(conditions: readonly CallCondition[]): { where: string; values: Value[] } {
  let place = 0;
  const rules = conditions.map(([sql]) => sql.replaceAll('?', () => `$${++place}`));
  return {
    where: rules.length === 0 ? '' : `WHERE ${rules.join(' AND ')}`,
    values: conditions.flatMap(([, ...values]) => values),
  };
}

/** Creates the store of export positions of a PostgreSQL database. */
export function createExportStore(db: Pick<Database, 'row'>, writer: Pick<Writer, 'write'>): ExportStore {
  return {
    async take(name, process, nowMs, leaseMs) {
      const other = async (reader: Pick<Statements, 'row'>): Promise<boolean> =>
        (await reader.row(sql.isExportTaken, [name, process, nowMs, nowMs + longestExportLeaseMs])) !==
        undefined;
      // Asked first outside of a write: nodes that wait for their turn ask each second.
      if (await other(db)) return undefined;
      return writer.write(async (tx) =>
        (await other(tx))
          ? undefined
          : tx.row<ExportPosition>(sql.takeExport, [name, process, nowMs + leaseMs]),
      );
    },
    save: (name, process, { ledger, calls, audit }) =>
      writer.write(async (tx) => (await tx.run(sql.saveExport, [name, process, ledger, calls, audit])) === 1),
  };
}
