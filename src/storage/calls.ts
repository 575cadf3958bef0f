import { hash } from 'node:crypto';

/** Results of a call, as the ledger records them. */
export const callOutcomes = ['ok', 'tool_error', 'error', 'refused', 'timed_out', 'cancelled'] as const;

/**
 * Result of a call: `ok`; `tool_error` for a result with `isError`; `error` for a JSON-RPC error; `refused` if scopes,
 * policy or limits rejected it; `timed_out`; `cancelled` by the client.
 */
export type CallOutcome = (typeof callOutcomes)[number];

/** A call, as the ledger records it. It has no arguments and no result, except `arguments` if the route asks for it. */
export interface CallEntry {
  /** Arrival, epoch milliseconds. */
  at: number;
  /** The account (`sub`), or the client that acts for itself. */
  account: string;
  client: string;
  grant: string | null;
  /** Parties that act for the account by token exchange, the present one first, as a JSON array; null if none does. */
  actor: string | null;
  /** Path of the route below the public URL; `/` for the public URL itself. */
  route: string;
  /** Key of the backend, if the route has several. */
  backend: string | null;
  /** The upstream or stored credential that the backend got, if any. */
  credential: string | null;
  /** Generation of the upstream token that the backend got, if it is known. */
  generation: number | null;
  transport: CallTransport;
  /** Protocol revision of the request; null if it is not known. */
  revision: string | null;
  method: string;
  /** Name of the tool or prompt, URI of the resource without user, query and fragment. */
  target: string | null;
  /** Hash of the tool definition that the caller was shown, if definitions are pinned. */
  definition: string | null;
  /** Keyed hash of the arguments; null without arguments. */
  argumentsHash: string | null;
  /** Names of the top-level arguments, joined by commas. */
  argumentNames: string | null;
  /** Sealed arguments, if the route keeps them. */
  arguments: Uint8Array | null;
  outcome: CallOutcome;
  /** Code of the JSON-RPC error. */
  code: number | null;
  /** Machine-readable reason of a refusal or error of Gatehouse. */
  reason: string | null;
  /** Milliseconds from arrival to response. */
  ms: number;
  /** Milliseconds from arrival until the request was sent to a backend; null if it was not. */
  waitMs: number | null;
  bytesIn: number;
  bytesOut: number;
  /** True if the response came from the cache. */
  cached: boolean;
  /** True if Gatehouse sent the request to the backend more than once. */
  retried: boolean;
  /** `X-Request-Id` of the response. */
  requestId: string;
  /** W3C trace id, 32 hexadecimal digits. */
  traceId: string | null;
}

/** The transport that a call came by. */
export type CallTransport = 'http' | 'sse' | 'rest';

/** The columns of a stored call, which all databases share; the arguments are last. */
export const callColumns = {
  seq: 'seq',
  at: 'at',
  account: 'account',
  client: 'client',
  grant: 'grant_id',
  route: 'route',
  backend: 'backend',
  credential: 'credential',
  transport: 'transport',
  revision: 'revision',
  method: 'method',
  target: 'target',
  definition: 'definition',
  argumentsHash: 'arguments_hash',
  argumentNames: 'argument_names',
  outcome: 'outcome',
  code: 'code',
  reason: 'reason',
  ms: 'ms',
  bytesIn: 'bytes_in',
  bytesOut: 'bytes_out',
  cached: 'cached',
  retried: 'retried',
  requestId: 'request_id',
  traceId: 'trace_id',
  actor: 'actor',
  generation: 'generation',
  waitMs: 'wait_ms',
  arguments: 'arguments',
} as const satisfies Record<keyof CallRow, string>;

/**
 * Returns the values of a call in the chain: all, in the order of the columns, the sealed arguments by their hash. Columns
 * that came later are an array of their own, and absent if they are empty: earlier batches stay as they were sealed.
 */
export function chainedValues(row: CallRow): unknown[] {
  const values: unknown[] = chainedColumns.map((name) => row[name]);
  if (row.arguments !== null) values.push(hash('sha256', row.arguments, 'base64url'));
  const later = laterColumns.map((name) => row[name]);
  return later.every((value) => value === null) ? values : [...values, later];
}

const laterColumns: readonly (keyof CallRow)[] = ['actor', 'generation', 'waitMs'];

const chainedColumns = (Object.keys(callColumns) as (keyof CallRow)[]).filter(
  (name) => name !== 'arguments' && !laterColumns.includes(name),
);

/** A stored call. */
export interface CallRow extends CallEntry {
  /** Position in the ledger, from 1 without gaps. */
  seq: number;
}

/**
 * Returns a call as every database holds it: PostgreSQL holds no NUL in a text, and none of them holds half of a
 * surrogate pair. The chain and the hours are over what is stored.
 */
export function toStorable(call: CallEntry): CallEntry {
  const isStorable = Object.values(call).every((value) => typeof value !== 'string' || isPlain(value));
  if (isStorable) return call;
  const members = Object.entries(call).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value,
  ]);
  return Object.fromEntries(members) as CallEntry;
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A position in a ledger. */
export interface LedgerPosition {
  /** Id of the ledger; empty for none. */
  ledger: string;
  /** Position of the last call; 0 for none. */
  calls: number;
}

/** The seal of a batch of calls. Each covers its rows and the seal before it. */
export interface CallSeal {
  /** Number of the batch, from 1 without gaps. */
  batch: number;
  /** Time of the commit, epoch milliseconds. */
  at: number;
  /** Position of the last call up to and including this batch; 0 if there is none. */
  lastSeq: number;
  /** Calls of the batch. */
  calls: number;
  /** Calls before this batch that could not be recorded. */
  lost: number;
  /** Cause of calls that may be missing and cannot be counted. */
  gap: CallGap | null;
  /** Hash over the calls of the batch. */
  digest: string;
  /** Keyed hash over all of the above and the previous seal. */
  mac: string;
}

/** `ended`: a server ended without closing its ledger, such as by a kill. */
export type CallGap = 'ended';

/** An end of the ledger: the newest seal, or the newest of those that were dropped. */
export interface CallEnd {
  batch: number;
  lastSeq: number;
  mac: string;
  /** Keyed hash which proves that this seal was the last one written or dropped. */
  proof: string;
}

/** A batch to append. */
export interface CallBatch {
  calls: readonly CallEntry[];
  /** Calls before this batch that could not be recorded. */
  lost: number;
}

/** A filter for reading the ledger. All given members must match. */
export interface CallQuery {
  account?: string;
  client?: string;
  route?: string;
  backend?: string;
  /** Tool, prompt or resource. */
  target?: string;
  method?: string;
  outcome?: CallOutcome;
  reason?: string;
  revision?: string;
  requestId?: string;
  traceId?: string;
  argumentsHash?: string;
  /** Epoch milliseconds. */
  since?: number;
  /** Only calls before this time, epoch milliseconds. */
  until?: number;
  /** Only calls after this position. */
  afterSeq?: number;
  /** Only calls up to this position. */
  untilSeq?: number;
}

/** The last call of a page, behind which the next page continues. */
export type CallCursor = Pick<CallRow, 'at' | 'seq'>;

/** A condition in the SQL of either database, with its values in the order of its `?`. */
export type CallCondition = readonly [sql: string, ...values: (string | number)[]];

/** Returns the conditions that the calls of a page meet. */
export function conditionsOf(query: CallQuery, before?: CallCursor): CallCondition[] {
  const { since, until, afterSeq, untilSeq, ...equal } = query;
  const conditions: CallCondition[] = Object.entries(equal)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [`${callColumns[name as keyof typeof equal]} = ?`, value]);
  // The index is of these calls alone, and SQLite compares its condition with the text of the query.
  if (equal.outcome !== undefined && equal.outcome !== 'ok') conditions.push(["outcome <> 'ok'"]);
  if (since !== undefined) conditions.push(['at >= ?', since]);
  if (until !== undefined) conditions.push(['at < ?', until]);
  if (afterSeq !== undefined) conditions.push(['seq > ?', afterSeq]);
  if (untilSeq !== undefined) conditions.push(['seq <= ?', untilSeq]);
  if (before) conditions.push(['(at, seq) < (?, ?)', before.at, before.seq]);
  return conditions;
}

/** Columns by which calls are counted. */
export const callGroups = [
  'account',
  'client',
  'route',
  'backend',
  'target',
  'method',
  'outcome',
  'reason',
  'revision',
  'transport',
  'credential',
  'argumentsHash',
] as const;

/** A column by which calls are counted. */
export type CallGroup = (typeof callGroups)[number];

/** Calls of one group. */
export interface CallCount {
  /** Values of the group's columns. */
  group: Partial<Record<CallGroup, string | null>>;
  calls: number;
  /** Calls that were neither `ok` nor `refused`. */
  failed: number;
  refused: number;
  accounts: number;
  /** Epoch milliseconds. */
  firstAt: number;
  /** Epoch milliseconds. */
  lastAt: number;
  bytesOut: number;
  /** Milliseconds to the response, by percentile; only if asked for. */
  times?: CallTimes;
}

/** Milliseconds to the response that 50, 95 and 99 of a hundred calls did not exceed. */
export interface CallTimes {
  p50: number;
  p95: number;
  p99: number;
}

/** Options for counting calls. */
export interface CallCounting {
  by: readonly CallGroup[];
  /** Maximum number of groups; the most frequent are returned. */
  limit: number;
  /** Also computes percentiles, which sorts all calls. */
  withTimes?: boolean;
  /** Counts only the newest calls, at most so many; all by default. */
  newest?: number;
}

/** Columns of a group of calls in an hour. */
export const callHourKey = ['hour', 'route', 'backend', 'method', 'target', 'client', 'outcome'] as const;

/** Upper bounds of the buckets of milliseconds; the last bucket has none. */
export const callBuckets = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

/** Calls of one hour and group. */
export interface CallHour {
  /** Begin of the hour, epoch milliseconds. */
  hour: number;
  route: string;
  /** Empty if the route has one backend. */
  backend: string;
  method: string;
  /** Tool or prompt that exists; else empty. */
  target: string;
  client: string;
  outcome: CallOutcome;
  calls: number;
  /** Sum of the milliseconds. */
  ms: number;
  bytesOut: number;
  /** Calls by {@link callBuckets}. */
  buckets: number[];
}

const hourMs = 3_600_000;

/** Returns the calls of a batch by hour and group. */
export function hoursOf(calls: readonly CallEntry[]): CallHour[] {
  const hours = new Map<string, CallHour>();
  for (const call of calls) {
    const { at, route, backend, method, target, client, outcome, ms, bytesOut } = call;
    const hour = at - (at % hourMs);
    // Callers may invent names and URIs, and the sums are kept long.
    const isKnown = outcome === 'ok' || outcome === 'tool_error';
    const named = isKnown && (method === 'tools/call' || method === 'prompts/get') ? (target ?? '') : '';
    const group = { hour, route, backend: backend ?? '', method, target: named, client, outcome };
    const key = Object.values(group).join('\0');
    const empty = { calls: 0, ms: 0, bytesOut: 0, buckets: [...callBuckets, 0].map(() => 0) };
    const sum = hours.get(key) ?? { ...group, ...empty };
    sum.calls++;
    sum.ms += ms;
    sum.bytesOut += bytesOut;
    const bucket = callBuckets.findIndex((bound) => ms <= bound);
    const place = bucket === -1 ? callBuckets.length : bucket;
    sum.buckets[place] = (sum.buckets[place] ?? 0) + 1;
    hours.set(key, sum);
  }
  return [...hours.values()];
}

/** Adds the counts of buckets. */
export function addToBuckets(buckets: readonly number[], added: readonly number[]): number[] {
  return added.map((count, at) => count + (buckets[at] ?? 0));
}

/** A process that writes to the ledger. */
export interface CallWriter {
  writer: string;
  /** Time of its last note, epoch milliseconds. */
  beatAt: number;
}

/** Retention of the ledger. */
export interface CallRetention {
  /** The present time, epoch milliseconds. A clock that was ahead wrote batches of a later time. */
  nowMs: number;
  /** Batches before this time are dropped, epoch milliseconds. */
  before: number;
  maxRows: number;
  /** Hours before this time are dropped, epoch milliseconds. */
  hoursBefore: number;
}

/** Batches that are read and calls that are dropped in one commit: small enough to not delay others. */
export const droppedAtOnce = { batches: 500, calls: 1_000 } as const;

/**
 * Returns the oldest batches that are not kept, as many as one commit drops, and at least one. A batch of the future was
 * written before the next batch that is not, and counts as old as that one.
 * @param oldest seals in order
 * @param lastSeq position of the newest call
 * @param later the first seal behind `oldest` that is not of the future, if it is known
 */
export function findDroppable(
  oldest: readonly CallSeal[],
  lastSeq: number,
  { nowMs, before, maxRows }: Pick<CallRetention, 'nowMs' | 'before' | 'maxRows'>,
  later?: Pick<CallSeal, 'batch' | 'at'>,
): CallSeal[] {
  const isBehind = later !== undefined && later.batch > (oldest.at(-1)?.batch ?? 0);
  let next = isBehind ? later.at : Number.POSITIVE_INFINITY;
  const times = oldest.toReversed().map(({ at }) => {
    if (at <= nowMs) next = at;
    return next;
  });
  const dropped: CallSeal[] = [];
  let calls = 0;
  for (const seal of oldest) {
    const isKept = (times.pop() ?? 0) >= before && lastSeq - seal.lastSeq + seal.calls <= maxRows;
    calls += seal.calls;
    if (isKept || (dropped.length > 0 && calls > droppedAtOnce.calls)) break;
    dropped.push(seal);
  }
  return dropped;
}

/** Result of a commit that drops batches: the number of calls; or the oldest seal, if it is kept. */
export type DropResult = { calls: number } | { kept: CallSeal | undefined };

/**
 * Drops batches, commit by commit, until the oldest one is kept.
 * @param drop drops the batches of one commit; `later` as in {@link findDroppable}
 * @param seals reads seals in order
 * @returns the number of calls
 */
export async function dropBatches(
  drop: (later: CallSeal | undefined) => Promise<DropResult>,
  seals: CallStore['seals'],
  nowMs: number,
): Promise<number> {
  let removed = 0;
  let later: CallSeal | undefined;
  for (;;) {
    const result = await drop(later);
    if ('calls' in result) {
      removed += result.calls;
      continue;
    }
    const { kept } = result;
    if (!kept || kept.at <= nowMs || (later && later.batch > kept.batch)) return removed;
    later = await findSeal(seals, kept.batch, ({ at }) => at <= nowMs);
    if (!later) return removed;
  }
}

/** Returns the first seal of a later batch that is wanted. */
export async function findSeal(
  seals: CallStore['seals'],
  afterBatch: number,
  isWanted: (seal: CallSeal) => boolean,
): Promise<CallSeal | undefined> {
  for (let after = afterBatch; ; ) {
    const page = await seals(after, droppedAtOnce.batches);
    const found = page.find(isWanted);
    const last = page.at(-1);
    if (found || !last) return found;
    after = last.batch;
  }
}

/**
 * The call ledger: who called what. Batches are appended and dropped from the front; nothing is ever changed. It may fail
 * by itself, as it is in a file of its own.
 */
export interface CallStore {
  /**
   * Appends a batch and its seal. After a failure, the same object may be appended again: it is stored once.
   * @param isDurable true if it must survive a power loss, too
   * @throws StorageUnavailable if it cannot be written now
   */
  append(batch: CallBatch, nowMs: number, isDurable: boolean): Promise<CallSeal>;
  /** Returns a page of calls, the newest first. */
  list(query: CallQuery, limit: number, before?: CallCursor): Promise<CallRow[]>;
  /** Returns calls in the order of the ledger, from `query.afterSeq`. */
  read(query: CallQuery, limit: number): Promise<CallRow[]>;
  /**
   * Returns calls in the order of the ledger, behind a position. They survive a power loss from now on: otherwise others
   * could get their positions after it.
   * @param from counts only in its own ledger; another ledger is read from its first call
   * @returns the calls, and the id of their ledger
   */
  readNext(from: LedgerPosition, limit: number): Promise<{ ledger: string; calls: CallRow[] }>;
  /** Counts calls by columns, the most frequent groups first. */
  count(query: CallQuery, counting: CallCounting): Promise<CallCount[]>;
  /**
   * Returns a page of calls by hour, for hours that begin in a span of time, in the order of {@link callHourKey}.
   * @param after the last one of the page before
   */
  hours(sinceMs: number, untilMs: number, limit: number, after?: CallHour): Promise<CallHour[]>;
  /** Returns seals in order. @param afterBatch 0 for the first one */
  seals(afterBatch: number, limit: number): Promise<CallSeal[]>;
  /** Returns both ends; `start` is undefined if nothing was dropped yet, `head` if nothing was written. */
  ends(): Promise<{ start: CallEnd | undefined; head: CallEnd | undefined }>;
  /**
   * Drops whole batches, the oldest first.
   * @returns the number of calls
   */
  prune(retention: CallRetention): Promise<number>;
  /**
   * Notes that a process writes to the ledger, or renews the note.
   * @returns the notes of other processes
   */
  beat(writer: string, nowMs: number): Promise<CallWriter[]>;
  /** Removes the note of a process. */
  leave(writer: string): Promise<void>;
  /**
   * Removes the note of a process that ended without closing its ledger, and appends the gap that it left.
   * @returns undefined if there was no note
   */
  recordEnd(writer: string, nowMs: number): Promise<CallSeal | undefined>;
  close(): Promise<void>;
}

/** Positions of the last delivered call and audit event; 0 for none. */
export interface ExportPosition extends LedgerPosition {
  audit: number;
}

/** A lease that lasts longer is of a clock that was ahead, and ends at once; in milliseconds. */
export const longestExportLeaseMs = 600_000;

/** Positions of exports. They are in the main database, so that a lost ledger does not take them along. */
export interface ExportStore {
  /**
   * Returns the position of an export, and keeps other processes from it for a time.
   * @param name of the export
   * @param writer names this process
   * @returns undefined if another process has taken it
   */
  take(name: string, writer: string, nowMs: number, leaseMs: number): Promise<ExportPosition | undefined>;
  /**
   * Stores the position of an export that this process has taken.
   * @returns false if another process has taken it since
   */
  save(name: string, writer: string, position: ExportPosition): Promise<boolean>;
}
