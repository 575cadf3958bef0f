import {
  type LogRecord,
  logs,
  type Logger as OtelLogger,
  ROOT_CONTEXT,
  SeverityNumber,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { replaceAddresses } from '../observability/loggable.ts';
import { readLines } from '../observability/logger.ts';
import { createResource, readBatchLimits, reportFailures, shutDown, type TelemetryOptions } from './otlp.ts';

const severities: Readonly<Record<string, SeverityNumber>> = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};

/**
 * Starts to send each line of the log: to the SDK that the process has registered, or else to the OTLP endpoint of the
 * environment. Lines are read as they are printed, so secrets are redacted already.
 * @returns a function that sends the queued lines, and stops the export
 */
export function startLogExport(options: TelemetryOptions): () => Promise<void> {
  const { version, logger } = options;
  const registered = logs.getLogger('mcp-gatehouse', version);
  const own = registered.enabled() ? undefined : createProvider(options);
  const receiver: OtelLogger = own?.getLogger('mcp-gatehouse', version) ?? registered;
  const stop = readLines(logger, (line) => receiver.emit(toLogRecord(line)));
  return async () => {
    stop();
    if (own) await shutDown(own);
  };
}

function createProvider({ environment, version, logger }: TelemetryOptions): LoggerProvider {
  const exporter = new OTLPLogExporter();
  reportFailures(exporter, 'log lines', logger);
  const processor = new BatchLogRecordProcessor({ exporter, ...readBatchLimits(environment, 'BLRP', 1000) });
  return new LoggerProvider({ resource: createResource(version), processors: [processor] });
}

/** A line of the log, with the members that a record has fields for. */
interface LogLine {
  level: string;
  time: string;
  msg?: string;
  traceId?: string;
  spanId?: string;
  err?: unknown;
  /** Standard error of a backend. */
  line?: string;
}

/**
 * Maps a line of the log to a record. E-mail addresses are replaced in all texts: lines of audit events name accounts
 * by them. The member `line` is left out: a backend has written it, perhaps with arguments. If a line has no message,
 * its members are the body, too.
 */
export function toLogRecord(line: string): LogRecord {
  const {
    level,
    time,
    msg,
    traceId,
    spanId,
    err,
    line: _ofBackend,
    ...members
  } = JSON.parse(line, (_name, value: unknown) =>
    typeof value === 'string' ? replaceAddresses(value) : value,
  ) as LogLine;
  return {
    timestamp: new Date(time),
    severityNumber: severities[level] ?? SeverityNumber.UNSPECIFIED,
    severityText: level,
    body: msg ?? JSON.stringify(members),
    attributes: { ...members, ...(err !== undefined && describeError(err)) },
    // Without a trace, the root context: a span that runs by chance has not caused the line.
    context:
      traceId === undefined || spanId === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.NONE }),
  };
}

/** Names the members of an error by the semantic conventions for exceptions. */
function describeError(error: unknown): Record<string, unknown> {
  if (typeof error !== 'object' || error === null) return { err: error };
  const { type, message, stack, ...others } = error as Record<string, unknown>;
  return {
    'exception.type': type,
    'exception.message': message,
    'exception.stacktrace': stack,
    ...(Object.keys(others).length > 0 && { err: others }),
  };
}
