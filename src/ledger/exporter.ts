import { createHmac } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { replaceAddresses } from '../observability/loggable.ts';
import type { Logger } from '../observability/logger.ts';
import type { AuditStore } from '../storage/audit.ts';
import type { CallRow, CallStore, ExportPosition, ExportStore } from '../storage/calls.ts';
import { callToOcsf, eventToOcsf } from './ocsf.ts';

/** Positions of the records of a delivery: first and last, of calls and of events. */
export interface Delivered {
  /** Id of the ledger of the calls. */
  ledger: string;
  calls: readonly [number, number] | undefined;
  audit: readonly [number, number] | undefined;
}

/** Takes records, each of which is a line of JSON. Rejects if they were not taken: they come again. */
export type Deliver = (lines: string, delivered: Delivered) => Promise<void>;

/** Options of an exporter. */
export interface ExporterOptions {
  /** Names its place in the records, which a restart continues. */
  name: string;
  /** Names this process: one process at a time exports. */
  writer: string;
  records: readonly ('audit' | 'calls')[];
  format: 'json' | 'ocsf';
  /** Version of this program. */
  version: string;
  calls: Pick<CallStore, 'readNext'>;
  exports: ExportStore;
  audit: Pick<AuditStore, 'read'>;
  deliver: Deliver;
  logger: Pick<Logger, 'warn' | 'info'>;
  /** Epoch milliseconds. */
  nowMs: () => number;
  /** Pause between two looks at the records, in milliseconds; 1 s by default. */
  pauseMs?: number;
}

/** Most records of a kind in a delivery. */
const batchSize = 500;

/** Longest pause after failed deliveries, in milliseconds. */
const longestPauseMs = 60_000;

/**
 * Time after which another process may continue in place of one that has ended, in milliseconds. A process that delivers
 * renews its lease after half of it.
 */
const leaseMs = 120_000;

/**
 * Starts to deliver records in their order, each at least once. The stored records themselves are the queue, so memory
 * stays bounded, and a receiver that was away gets what is still kept. Audit events do not wait for a ledger that cannot
 * be read.
 * @returns stops it, once the delivery that runs has ended
 */
export function startExporter(options: ExporterOptions): () => Promise<void> {
  const { name, writer, exports, logger, nowMs, pauseMs = 1000 } = options;
  const readCalls = createCallReader(options);
  let failures = 0;
  let isStopped = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let held: { position: ExportPosition; renewAt: number } | undefined;

  /** Returns the position; undefined if another process delivers. */
  const hold = async (): Promise<ExportPosition | undefined> => {
    const now = nowMs();
    if (held && now < held.renewAt) return held.position;
    const position = await exports.take(name, writer, now, leaseMs);
    held = position && { position, renewAt: now + leaseMs / 2 };
    return position;
  };
  const deliverAll = async (): Promise<void> => {
    while (!isStopped) {
      const before = await hold();
      const batch = before && (await readBatch(options, before, readCalls));
      if (!batch) return;
      const { lines, delivered, position } = batch;
      await options.deliver(lines, delivered);
      const isMine = await exports.save(name, writer, position);
      held = isMine && held ? { ...held, position } : undefined;
      if (failures > 0) logger.info({ export: name }, 'records are delivered again');
      failures = 0;
    }
  };
  const run = async (): Promise<void> => {
    try {
      await deliverAll();
    } catch (error) {
      if (failures++ === 0) logger.warn({ err: error, export: name }, 'records cannot be delivered');
    }
    running = undefined;
    if (isStopped) return;
    const waitMs = failures === 0 ? pauseMs : Math.min(pauseMs * 2 ** failures, longestPauseMs);
    timer = setTimeout(start, waitMs).unref();
  };
  const start = (): void => {
    running = run();
  };
  start();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
    // The next process need not wait for the end of the lease.
    if (held) await exports.take(name, writer, nowMs(), 0).catch(() => undefined);
  };
}

/** Reads the next calls; undefined if none are exported, or the ledger cannot be read now. */
type ReadCalls = (from: ExportPosition) => Promise<{ ledger: string; calls: CallRow[] } | undefined>;

function createCallReader({ name, records, calls, logger }: ExporterOptions): ReadCalls {
  let isFailing = false;
  if (!records.includes('calls')) return async () => undefined;
  return async (from) => {
    try {
      const next = await calls.readNext(from, batchSize);
      if (isFailing) logger.info({ export: name }, 'calls are exported again');
      isFailing = false;
      return next;
    } catch (error) {
      if (!isFailing) logger.warn({ err: error, export: name }, 'calls cannot be exported');
      isFailing = true;
      return undefined;
    }
  };
}

/** Reads the records after a position; undefined if there are none. */
async function readBatch(
  { records, format, version, audit }: ExporterOptions,
  position: ExportPosition,
  readCalls: ReadCalls,
): Promise<{ lines: string; delivered: Delivered; position: ExportPosition } | undefined> {
  const { ledger, calls: rows } = (await readCalls(position)) ?? { ledger: position.ledger, calls: [] };
  const events = records.includes('audit')
    ? await audit.read({ after: position.audit, limit: batchSize })
    : [];
  if (rows.length + events.length === 0) return undefined;
  const lines = [
    ...rows.map(({ arguments: _sealed, ...row }) => {
      const call = { ledger, ...row };
      return format === 'ocsf' ? callToOcsf(call, version) : { type: 'call', ...call };
    }),
    ...events.map(({ seq, hash, at, event, details }) => {
      const exported = { seq, hash, at: at * 1000, event, details: withoutAddresses(details) };
      return format === 'ocsf' ? eventToOcsf(exported, version) : { type: 'audit', ...exported };
    }),
  ];
  // Without calls of another ledger, the position of the former one stays.
  const last = rows.at(-1);
  return {
    lines: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    delivered: { ledger, calls: spanOf(rows), audit: spanOf(events) },
    position: {
      ...(last ? { ledger, calls: last.seq } : { ledger: position.ledger, calls: position.calls }),
      audit: events.at(-1)?.seq ?? position.audit,
    },
  };
}

/** Reads the details of an event, without e-mail addresses: operators' commands name accounts by them. */
function withoutAddresses(details: string): Record<string, string> {
  const all = Object.entries(JSON.parse(details) as Record<string, string>);
  return Object.fromEntries(all.map(([name, value]) => [name, replaceAddresses(value)]));
}

function spanOf(records: readonly { seq: number }[]): readonly [number, number] | undefined {
  const [first] = records;
  const last = records.at(-1);
  return first && last && [first.seq, last.seq];
}

/**
 * Appends records durably to a file that only its owner can read, or writes them to standard output.
 * @param file `-` for standard output
 */
export function deliverToFile(file: string): Deliver {
  if (file !== '-') return (lines) => appendDurably(file, lines);
  return (lines) =>
    new Promise((resolve, reject) => {
      process.stdout.write(lines, (error) => (error ? reject(error) : resolve()));
    });
}

async function appendDurably(file: string, lines: string): Promise<void> {
  await withFile(file, 'a', async (handle) => {
    const stats = await handle.stat();
    // A pipe has neither an end to read nor a disk.
    if (!stats.isFile()) return handle.writeFile(lines);
    // A failed attempt may have left half a line.
    const isLineOpen = stats.size > 0 && (await readByte(file, stats.size - 1)) !== newline;
    await handle.writeFile(isLineOpen ? `\n${lines}` : lines);
    await handle.datasync();
  });
}

const newline = 0x0a;

function readByte(file: string, position: number): Promise<number | undefined> {
  return withFile(file, 'r', async (handle) => {
    const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position });
    return buffer[0];
  });
}

async function withFile<T>(
  file: string,
  flags: 'a' | 'r',
  use: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await open(file, flags, 0o600);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/** A request to the receiver of records. */
export interface Post {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
}

/**
 * Posts records as NDJSON.
 * @param secret key of the signature in `X-Gatehouse-Signature` (HMAC-SHA-256 of the body); none without it
 */
export function deliverByHttp(
  url: string,
  secret: string | undefined,
  post: (url: string, request: Post) => Promise<Response>,
): Deliver {
  return async (lines, { ledger, calls, audit }) => {
    const spans = Object.entries({ calls, audit }).flatMap(([kind, span]) =>
      span ? [`${kind}=${span.join('-')}`] : [],
    );
    const signature = secret && `sha256=${createHmac('sha256', secret).update(lines).digest('hex')}`;
    const headers = {
      'content-type': 'application/x-ndjson',
      'x-gatehouse-records': spans.join(' '),
      ...(calls && { 'x-gatehouse-ledger': ledger }),
      ...(signature && { 'x-gatehouse-signature': signature }),
    };
    const { ok, status } = await post(url, { method: 'POST', headers, body: lines });
    if (!ok) throw new Error(`the receiver of records responded with status ${status}`);
  };
}
