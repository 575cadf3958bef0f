import { createHmac } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import type { Logger } from '../observability/logger.ts';
import type { AuditStore } from '../storage/audit.ts';
import type { CallStore, ExportPosition } from '../storage/calls.ts';
import { callToOcsf, eventToOcsf } from './ocsf.ts';

/** Positions of the records of a delivery: first and last, of calls and of events. */
export interface Delivered {
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
  calls: Pick<CallStore, 'read' | 'takeExport' | 'saveExport'>;
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

/** Time after which another process may go on in place of one that has ended, in milliseconds. */
const leaseMs = 120_000;

/**
 * Starts to deliver records in their order, each at least once. The stored records themselves are the queue, so memory
 * stays bounded, and a receiver that was away gets what is still kept.
 * @returns stops it, once the delivery that runs has ended
 */
export function startExporter(options: ExporterOptions): () => Promise<void> {
  const { name, writer, calls, logger, nowMs, pauseMs = 1000 } = options;
  let failures = 0;
  let isStopped = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const deliverAll = async (): Promise<void> => {
    while (!isStopped) {
      const position = await calls.takeExport(name, writer, nowMs(), leaseMs);
      const batch = position && (await readBatch(options, position));
      if (!batch) return;
      await options.deliver(batch.lines, batch.delivered);
      await calls.saveExport(name, writer, batch.position);
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
    await calls.takeExport(name, writer, nowMs(), 0).catch(() => undefined);
  };
}

/** Reads the records after a position; undefined if there are none. */
async function readBatch(
  { records, format, version, calls, audit }: ExporterOptions,
  position: ExportPosition,
): Promise<{ lines: string; delivered: Delivered; position: ExportPosition } | undefined> {
  const rows = records.includes('calls') ? await calls.read({ afterSeq: position.calls }, batchSize) : [];
  const events = records.includes('audit')
    ? await audit.read({ after: position.audit, limit: batchSize })
    : [];
  if (rows.length + events.length === 0) return undefined;
  const lines = [
    ...rows.map(({ arguments: _sealed, ...call }) =>
      format === 'ocsf' ? callToOcsf(call, version) : { type: 'call', ...call },
    ),
    ...events.map(({ seq, at, event, details }) => {
      const exported = { seq, at: at * 1000, event, details: withoutAddresses(details) };
      return format === 'ocsf' ? eventToOcsf(exported, version) : { type: 'audit', ...exported };
    }),
  ];
  return {
    lines: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    delivered: { calls: spanOf(rows), audit: spanOf(events) },
    position: {
      calls: rows.at(-1)?.seq ?? position.calls,
      audit: events.at(-1)?.seq ?? position.audit,
    },
  };
}

/** Reads the details of an event, without e-mail addresses: operators' commands name accounts by them. */
function withoutAddresses(details: string): Record<string, string> {
  const all = Object.entries(JSON.parse(details) as Record<string, string>);
  return Object.fromEntries(all.filter(([, value]) => !/^[^\s@/]+@[^\s@/]+$/.test(value)));
}

function spanOf(records: readonly { seq: number }[]): readonly [number, number] | undefined {
  const [first] = records;
  const last = records.at(-1);
  return first && last && [first.seq, last.seq];
}

/** Appends records to a file that only its owner can read, or writes them to standard output. @param file `-` for that */
export function deliverToFile(file: string): Deliver {
  if (file !== '-') return (lines) => appendFile(file, lines, { mode: 0o600 });
  return (lines) =>
    new Promise((resolve, reject) => {
      process.stdout.write(lines, (error) => (error ? reject(error) : resolve()));
    });
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
  return async (lines, { calls, audit }) => {
    const spans = Object.entries({ calls, audit }).flatMap(([kind, span]) =>
      span ? [`${kind}=${span.join('-')}`] : [],
    );
    const signature = secret && `sha256=${createHmac('sha256', secret).update(lines).digest('hex')}`;
    const headers = {
      'content-type': 'application/x-ndjson',
      'x-gatehouse-records': spans.join(' '),
      ...(signature && { 'x-gatehouse-signature': signature }),
    };
    const { ok, status } = await post(url, { method: 'POST', headers, body: lines });
    if (!ok) throw new Error(`the receiver of records responded with status ${status}`);
  };
}
