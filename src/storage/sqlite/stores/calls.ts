import { chmodSync, closeSync, constants, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { proveCallEnd, sealBatch } from '../../../crypto/call-chain.ts';
import {
  addToBuckets,
  type CallBatch,
  type CallCondition,
  type CallCount,
  type CallCounting,
  type CallCursor,
  type CallEnd,
  type CallEntry,
  type CallGap,
  type CallGroup,
  type CallHour,
  type CallQuery,
  type CallRetention,
  type CallRow,
  type CallSeal,
  type CallStore,
  type CallTimes,
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
  longestExportLeaseMs,
  toStorable,
} from '../../calls.ts';
import { StorageUnavailable } from '../../storage.ts';
import { ledgerMigrations, migrate } from '../connection/migrate.ts';
import type { Writer } from '../connection/writer.ts';

/** Longest wait for another process's commit, in milliseconds; all other work of the thread waits, too. */
const busyTimeoutMs = 1_000;

const names = Object.keys(callColumns) as (keyof CallRow)[];

/** Columns whose texts are in `call_names`. */
const named: ReadonlySet<string> = new Set<string>(
  (
    [
      ...['account', 'client', 'grant', 'route', 'backend', 'credential', 'revision', 'method', 'target'],
      ...['definition', 'reason', 'actor'],
    ] as (keyof CallRow)[]
  ).map((name) => callColumns[name]),
);

const textOf = (column: string): string => `(SELECT text FROM call_names WHERE id = calls.${column})`;

/** A target as text: its column has the id of a name, or a text. */
const targetText = `CASE typeof(target) WHEN 'integer' THEN ${textOf('target')} ELSE target END`;

const columnList = names
  .map((name) => {
    const column = callColumns[name];
    if (name === 'target') return `${targetText} AS target`;
    return `${named.has(column) ? textOf(column) : column} AS ${name}`;
  })
  .join(', ');
const sealColumns = 'batch, at, last_seq AS lastSeq, calls, lost, gap, digest, mac';

/** A row as SQLite returns it. */
type StoredRow = Omit<CallRow, 'cached' | 'retried' | 'requestId'> &
  Record<'cached' | 'retried', number> & { requestId: string | Buffer };

const toRow = (row: StoredRow): CallRow => ({
  ...row,
  cached: row.cached === 1,
  retried: row.retried === 1,
  requestId: typeof row.requestId === 'string' ? row.requestId : toUuid(row.requestId),
});

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the stored form of a request id: half the bytes of a UUID. */
function packId(id: string): string | Buffer {
  return uuid.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : id;
}

function toUuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const dayMs = 86_400_000;

/** Most names whose ids are remembered. */
const maxKnownNames = 20_000;

/** An open database file of the ledger. */
interface Ledger {
  db: Database.Database;
  /** Id of this ledger. */
  id: string;
  append(batch: CallBatch, nowMs: number): CallSeal;
  seals(afterBatch: number, limit: number): CallSeal[];
  ends(): { start: CallEnd | undefined; head: CallEnd | undefined };
  drop(retention: CallRetention, later: CallSeal | undefined): DropResult;
  /** Drops the names that were last used before a day. */
  dropNames(beforeDay: number): void;
  beat(writer: string, nowMs: number): CallWriter[];
  leave(writer: string): void;
  recordEnd(writer: string, nowMs: number): CallSeal | undefined;
}

/**
 * Creates the call ledger in a SQLite file of its own, which is opened at first use. Commits survive the end of the
 * process, and a power loss only if that is asked for.
 * @param file path of the file; created with mode 0600 if it is missing, also if it was removed
 * @param keys holds the key that authenticates the batches
 */
export function createCallStore(file: string, keys: { readonly audit: string }): CallStore {
  let open: { ledger: Ledger; inode: number } | undefined;

  const close = (): void => {
    open?.ledger.db.close();
    open = undefined;
  };

  /** Returns the opened ledger. A file that was moved away gets what its log holds, and is not written any more. */
  const current = (): Ledger => {
    const inode = statSync(file, { throwIfNoEntry: false })?.ino;
    if (open && open.inode !== inode) {
      open.ledger.db.pragma('wal_checkpoint(TRUNCATE)');
      close();
    }
    open ??= openLedger(file, keys);
    return open.ledger;
  };

  /** @throws StorageUnavailable if the file cannot be used */
  const use = <T>(work: (ledger: Ledger) => T): T => {
    try {
      return work(current());
    } catch (cause) {
      close();
      throw new StorageUnavailable('the call ledger cannot be used at the moment', { cause });
    }
  };

  const listSeals: CallStore['seals'] = async (afterBatch, limit) =>
    use((ledger) => ledger.seals(afterBatch, limit));

  return {
    append: async (batch, nowMs, isDurable) =>
      use(({ db, append }) => {
        db.pragma(`synchronous = ${isDurable ? 'FULL' : 'NORMAL'}`);
        return append(batch, nowMs);
      }),
    list: async (query, limit, before) => use(({ db }) => list(db, query, limit, before)),
    read: async (query, limit) => use(({ db }) => read(db, query, limit)),
    readNext: async (from, limit) =>
      use(({ db, id }) => {
        const calls = read(db, { afterSeq: from.ledger === id ? from.calls : 0 }, limit);
        if (calls.length > 0) {
          db.pragma('synchronous = FULL');
          db.exec('UPDATE call_ledger SET reads = reads + 1');
        }
        return { ledger: id, calls };
      }),
    count: async (query, counting) => use(({ db }) => count(db, query, counting)),
    hours: async (sinceMs, untilMs, limit, after) =>
      use(({ db }) => {
        const key = callHourKey.join(', ');
        const behind = after ? `AND (${key}) > (${callHourKey.map(() => '?').join(', ')})` : '';
        return db
          .prepare<unknown[], CallHour & { buckets: never }>(
            `SELECT ${key}, calls, ms, bytes_out AS bytesOut, buckets
             FROM call_hours WHERE hour >= ? AND hour < ? ${behind} ORDER BY ${key} LIMIT ?`,
          )
          .all(sinceMs, untilMs, ...(after ? callHourKey.map((name) => after[name]) : []), limit)
          .map((hour) => ({ ...hour, buckets: JSON.parse(hour.buckets) as number[] }));
      }),
    seals: listSeals,
    ends: async () => use((ledger) => ledger.ends()),
    async prune(retention) {
      const drop = async (later: CallSeal | undefined): Promise<DropResult> => {
        await new Promise((resolve) => setImmediate(resolve));
        return use((ledger) => {
          ledger.db.pragma('synchronous = NORMAL');
          return ledger.drop(retention, later);
        });
      };
      const removed = await dropBatches(drop, listSeals, retention.nowMs);
      use(({ db, dropNames }) => {
        db.prepare('DELETE FROM call_hours WHERE hour < ?').run(retention.hoursBefore);
        const oldest = db.prepare<[], number | null>('SELECT min(at) FROM calls').pluck().get() ?? Infinity;
        const day = Math.floor(Math.min(retention.before, oldest) / dayMs);
        // A day more: a call is written after it arrived.
        dropNames(day - 1);
      });
      return removed;
    },
    beat: async (writer, nowMs) => use((ledger) => ledger.beat(writer, nowMs)),
    leave: async (writer) => use((ledger) => ledger.leave(writer)),
    recordEnd: async (writer, nowMs) =>
      use((ledger) => {
        ledger.db.pragma('synchronous = NORMAL');
        return ledger.recordEnd(writer, nowMs);
      }),
    async close() {
      close();
    },
  };
}

function openLedger(file: string, keys: { readonly audit: string }): { ledger: Ledger; inode: number } {
  if (!existsSync(file)) {
    setLogAside(file);
    closeSync(openSync(file, constants.O_CREAT | constants.O_RDWR, 0o600));
  }
  chmodSync(file, 0o600);
  const { ino: inode } = statSync(file);
  const db = new Database(file, { timeout: busyTimeoutMs });
  try {
    db.pragma('journal_mode = WAL');
    migrate(db, ledgerMigrations);
    return { ledger: { db, ...prepare(db, keys) }, inode };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Renames the log of a file that was moved away: SQLite would replay it into the new file. */
function setLogAside(file: string): void {
  const log = `${file}-wal`;
  if (statSync(log, { throwIfNoEntry: false })?.size) renameSync(log, `${log}.left`);
  for (const rest of [log, `${file}-shm`]) rmSync(rest, { force: true });
}

function prepare(db: Database.Database, keys: { readonly audit: string }): Omit<Ledger, 'db'> {
  const insert = db.prepare(
    `INSERT INTO calls (${Object.values(callColumns).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  const findEnd = db.prepare<[string], CallEnd>(
    'SELECT batch, last_seq AS lastSeq, mac, proof FROM call_ends WHERE name = ?',
  );
  const putEnd = db.prepare<[CallEnd & { name: string }]>(
    `INSERT INTO call_ends (name, batch, last_seq, mac, proof) VALUES (@name, @batch, @lastSeq, @mac, @proof)
     ON CONFLICT (name) DO UPDATE
     SET batch = excluded.batch, last_seq = excluded.last_seq, mac = excluded.mac, proof = excluded.proof`,
  );
  const putSeal = db.prepare<[CallSeal]>(
    `INSERT INTO call_seals (batch, at, last_seq, calls, lost, gap, digest, mac)
     VALUES (@batch, @at, @lastSeq, @calls, @lost, @gap, @digest, @mac)`,
  );
  const listSeals = db.prepare<[number, number], CallSeal>(
    `SELECT ${sealColumns} FROM call_seals WHERE batch > ? ORDER BY batch LIMIT ?`,
  );
  const findHour = db
    .prepare<unknown[], string>(
      `SELECT buckets FROM call_hours WHERE ${callHourKey.map((name) => `${name} = ?`).join(' AND ')}`,
    )
    .pluck();
  const putHour = db.prepare(
    `INSERT INTO call_hours (${callHourKey.join(', ')}, calls, ms, bytes_out, buckets)
     VALUES (${callHourKey.map(() => '?').join(', ')}, ?, ?, ?, ?)
     ON CONFLICT (${callHourKey.join(', ')}) DO UPDATE
     SET calls = calls + excluded.calls, ms = ms + excluded.ms, bytes_out = bytes_out + excluded.bytes_out,
       buckets = excluded.buckets`,
  );
  const dropCalls = db.prepare<[number]>('DELETE FROM calls WHERE seq <= ?');
  const dropSeals = db.prepare<[number]>('DELETE FROM call_seals WHERE batch <= ?');
  const dropNames = db.prepare<[number]>('DELETE FROM call_names WHERE used_day < ?');
  const renew = db.prepare<[string, number]>(
    `INSERT INTO call_writers (writer, beat_at) VALUES (?, ?)
     ON CONFLICT (writer) DO UPDATE SET beat_at = excluded.beat_at`,
  );
  const others = db.prepare<[string], CallWriter>(
    'SELECT writer, beat_at AS beatAt FROM call_writers WHERE writer <> ?',
  );
  const leave = db.prepare<[string]>('DELETE FROM call_writers WHERE writer = ?');

  const useName = db
    .prepare<[string, number], number>(
      `INSERT INTO call_names (text, used_day) VALUES (?, ?)
       ON CONFLICT (text) DO UPDATE SET used_day = max(used_day, excluded.used_day) RETURNING id`,
    )
    .pluck();
  /** Ids of the names that were used on the present day. */
  const today = { day: 0, ids: new Map<string, number>() };
  const idOf = (text: string, nowMs: number): number => {
    const day = Math.floor(nowMs / dayMs);
    if (today.day !== day || today.ids.size > maxKnownNames) {
      today.day = day;
      today.ids = new Map();
    }
    const known = today.ids.get(text);
    if (known !== undefined) return known;
    const id = useName.get(text, day) as number;
    today.ids.set(text, id);
    return id;
  };
  /** The stored values of a call, in the order of the columns. */
  const writers = names.map((name): ((row: CallRow, usedMs: number) => unknown) => {
    if (name === 'requestId') return (row) => packId(row.requestId);
    if (name === 'cached' || name === 'retried') return (row) => Number(row[name]);
    if (name === 'target')
      return ({ target, outcome }, usedMs) => {
        if (target === null || (outcome !== 'ok' && outcome !== 'tool_error')) return target;
        // A number would be stored as a floating one, as the column takes any type.
        return BigInt(idOf(target, usedMs));
      };
    if (!named.has(callColumns[name])) return (row) => row[name];
    return (row, usedMs) => (row[name] === null ? null : idOf(String(row[name]), usedMs));
  });

  const seal = (name: 'start' | 'head', { batch, lastSeq, mac }: CallSeal): void => {
    const end = { batch, lastSeq, mac };
    putEnd.run({ name, ...end, proof: proveCallEnd(keys.audit, name, end) });
  };
  const addHours = (calls: readonly CallEntry[]): void => {
    for (const { buckets, calls: number, ms, bytesOut, ...hour } of hoursOf(calls)) {
      const key = callHourKey.map((name) => hour[name]);
      const before = findHour.get(...key);
      const sum = before === undefined ? buckets : addToBuckets(JSON.parse(before) as number[], buckets);
      putHour.run(...key, number, ms, bytesOut, JSON.stringify(sum));
    }
  };
  const append = ({ calls: given, lost }: CallBatch, nowMs: number, gap: CallGap | null = null): CallSeal => {
    const calls = given.map(toStorable);
    const last = findEnd.get('head');
    let seq = last?.lastSeq ?? 0;
    const chained: unknown[][] = [];
    for (const call of calls) {
      const row: CallRow = { ...call, seq: ++seq };
      // Its day is not before that of the call, so that a name stays as long as its calls.
      const usedMs = Math.max(nowMs, call.at);
      insert.run(writers.map((write) => write(row, usedMs)));
      chained.push(chainedValues(row));
    }
    addHours(calls);
    const complete: CallSeal = sealBatch(keys.audit, last, chained, { at: nowMs, lost, gap });
    putSeal.run(complete);
    seal('head', complete);
    return complete;
  };
  const drop: Ledger['drop'] = (retention, later) => {
    const { lastSeq = 0 } = findEnd.get('head') ?? {};
    const start = findEnd.get('start') ?? { batch: 0, lastSeq: 0 };
    const oldest = listSeals.all(start.batch, droppedAtOnce.batches);
    const newest = findDroppable(oldest, lastSeq, retention, later).at(-1);
    if (!newest) return { kept: oldest[0] };
    dropCalls.run(newest.lastSeq);
    dropSeals.run(newest.batch);
    seal('start', newest);
    return { calls: newest.lastSeq - start.lastSeq };
  };
  const appendTogether = db.transaction(append).immediate;
  return {
    id: db.prepare<[], string>('SELECT id FROM call_ledger').pluck().get() as string,
    append(...batch) {
      try {
        return appendTogether(...batch);
      } catch (error) {
        // Their names were undone, too.
        today.ids = new Map();
        throw error;
      }
    },
    seals: (afterBatch, limit) => listSeals.all(afterBatch, limit),
    ends: db.transaction(() => ({ start: findEnd.get('start'), head: findEnd.get('head') })),
    drop: db.transaction(drop).immediate,
    dropNames: db.transaction((beforeDay: number) => {
      dropNames.run(beforeDay);
      // Under a clock that was ahead, names of the present day are dropped, too.
      today.ids = new Map();
    }).immediate,
    beat: db.transaction((writer: string, nowMs: number) => {
      renew.run(writer, nowMs);
      return others.all(writer);
    }).immediate,
    leave: (writer) => void leave.run(writer),
    recordEnd: db.transaction((writer: string, nowMs: number) =>
      leave.run(writer).changes > 0 ? append({ calls: [], lost: 0 }, nowMs, 'ended') : undefined,
    ).immediate,
  };
}

function list(db: Database.Database, query: CallQuery, limit: number, before?: CallCursor): CallRow[] {
  const { where, values } = toWhere(conditionsOf(query, before));
  return db
    .prepare<unknown[], StoredRow>(
      `SELECT ${columnList} FROM calls ${where} ORDER BY at DESC, seq DESC LIMIT ?`,
    )
    .all(...values, limit)
    .map(toRow);
}

function read(db: Database.Database, query: CallQuery, limit: number): CallRow[] {
  const { where, values } = toWhere(conditionsOf(query));
  return db
    .prepare<unknown[], StoredRow>(`SELECT ${columnList} FROM calls ${where} ORDER BY seq LIMIT ?`)
    .all(...values, limit)
    .map(toRow);
}

/** A row of {@link count}, with the columns of its group. */
type Counted = Omit<CallCount, 'group' | 'times'> & Record<string, string | number | null>;

function count(
  db: Database.Database,
  query: CallQuery,
  { by, limit, withTimes = false, newest }: CallCounting,
): CallCount[] {
  const { where, values } = toWhere(conditionsOf(query));
  const from =
    newest === undefined
      ? `calls ${where}`
      : `(SELECT * FROM calls ${where} ORDER BY at DESC LIMIT ${newest}) AS calls`;
  // Names by their ids, which are fewer to look up than calls.
  const columns = by.map((name) => (name === 'target' ? targetText : callColumns[name]));
  const groupBy = columns.length === 0 ? '' : `GROUP BY ${columns.join(', ')}`;
  const rows = db
    .prepare<unknown[], Counted>(
      `SELECT ${[...by.map((name, at) => `${columns[at]} AS "g_${name}"`), ''].join(', ')}
         count(*) AS calls, sum(outcome NOT IN ('ok', 'refused')) AS failed, sum(outcome = 'refused') AS refused,
         count(DISTINCT account) AS accounts, min(at) AS firstAt, max(at) AS lastAt, sum(bytes_out) AS bytesOut
       FROM ${from} ${groupBy} HAVING calls > 0 ORDER BY calls DESC, lastAt DESC LIMIT ?`,
    )
    .all(...values, limit);
  const findName = db.prepare<[unknown], string>('SELECT text FROM call_names WHERE id = ?').pluck();
  const nameOf = (name: CallGroup, value: unknown): string | null =>
    typeof value === 'number' && named.has(callColumns[name])
      ? (findName.get(value) ?? null)
      : (value as string | null);
  const keyOf = (row: Counted): string => JSON.stringify(by.map((name) => row[`g_${name}`]));
  const sizes = new Map(rows.map((row) => [keyOf(row), row.calls]));
  const times = withTimes ? timesOf(db, columns, from, values, sizes) : undefined;
  return rows.map((row) => {
    const group = Object.fromEntries(by.map((name) => [name, nameOf(name, row[`g_${name}`])]));
    const { calls, failed, refused, accounts, firstAt, lastAt, bytesOut } = row;
    const counted = { group, calls, failed, refused, accounts, firstAt, lastAt, bytesOut };
    const { p50 = 0, p95 = 0, p99 = 0 } = times?.get(keyOf(row)) ?? {};
    return times ? { ...counted, times: { p50, p95, p99 } } : counted;
  });
}

/**
 * Returns the percentiles of groups, in one read of their calls.
 * @param columns of a group, as SQL
 * @param sizes numbers of calls, by the JSON of the columns of each group
 */
function timesOf(
  db: Database.Database,
  columns: readonly string[],
  from: string,
  values: readonly unknown[],
  sizes: ReadonlyMap<string, number>,
): Map<string, CallTimes> {
  const times = new Map<string, CallTimes & { seen: number }>();
  const key = [...columns, 'ms'].join(', ');
  const counted = db
    .prepare<unknown[], unknown[]>(`SELECT ${key}, count(*) FROM ${from} GROUP BY ${key} ORDER BY ${key}`)
    .raw();
  for (const row of counted.iterate(...values)) {
    const [ms, calls] = row.splice(columns.length) as [number, number];
    const group = JSON.stringify(row);
    const size = sizes.get(group);
    if (size === undefined) continue;
    const own = times.get(group) ?? { p50: 0, p95: 0, p99: 0, seen: 0 };
    const passes = (share: number): boolean => own.seen < size * share && own.seen + calls >= size * share;
    if (passes(0.5)) own.p50 = ms;
    if (passes(0.95)) own.p95 = ms;
    if (passes(0.99)) own.p99 = ms;
    own.seen += calls;
    times.set(group, own);
  }
  return times;
}

type Condition = CallCondition | readonly [sql: string, ...values: unknown[]];

function toWhere(conditions: readonly Condition[]): { where: string; values: unknown[] } {
  const stored = conditions.map(toStoredCondition);
  return {
    where: stored.length === 0 ? '' : `WHERE ${stored.map(([sql]) => sql).join(' AND ')}`,
    values: stored.flatMap(([, ...values]) => values),
  };
}

/** Compares a column as it is stored: by the id of a name, by the bytes of a request id. */
function toStoredCondition(condition: Condition): Condition {
  const [sql, value] = condition;
  const [, column = ''] = /^(\w+) (?:=|IS) \?$/.exec(sql) ?? [];
  if (column === callColumns.requestId) return [sql, packId(String(value))];
  if (!named.has(column)) return condition;
  if (value === null) return [`${column} IS NULL`];
  const id = '(SELECT id FROM call_names WHERE text = ?)';
  return column === callColumns.target
    ? [`target IN (${id}, ?)`, value, value]
    : [`${column} = ${id}`, value];
}

/** Creates the store of export positions of a SQLite database, which is not the one of the ledger. */
export function createExportStore(db: Database.Database, writer: Writer): ExportStore {
  const isTaken = db
    .prepare<[string, string, number, number], number>(
      'SELECT 1 FROM call_exports WHERE name = ? AND writer <> ? AND taken_until BETWEEN ? AND ?',
    )
    .pluck();
  const take = db.prepare<[string, string, number], ExportPosition>(
    `INSERT INTO call_exports (name, writer, taken_until, ledger, calls, audit) VALUES (?, ?, ?, '', 0, 0)
     ON CONFLICT (name) DO UPDATE SET writer = excluded.writer, taken_until = excluded.taken_until
     RETURNING ledger, calls, audit`,
  );
  const save = db.prepare<[ExportPosition & { name: string; writer: string }]>(
    `UPDATE call_exports SET ledger = @ledger, calls = @calls, audit = @audit
     WHERE name = @name AND writer = @writer`,
  );
  return {
    async take(name, process, nowMs, leaseMs) {
      const other = (): boolean =>
        isTaken.get(name, process, nowMs, nowMs + longestExportLeaseMs) !== undefined;
      // Asked first outside of a write: processes that wait for their turn ask each second.
      if (other()) return undefined;
      return writer.write(() => (other() ? undefined : take.get(name, process, nowMs + leaseMs)));
    },
    save: (name, process, position) =>
      writer.write(() => save.run({ name, writer: process, ...position }).changes === 1),
  };
}
