import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Settings } from '../options.ts';
import type { Tracing } from '../telemetry/tracing.ts';

/** Parts of {@link composeTelemetry}. */
export interface TelemetryParts {
  /** Environment variables of this process. */
  environment: Readonly<Record<string, string | undefined>>;
  version: string;
  settings: Pick<Settings, 'trace'>;
  metrics: Pick<Metrics, 'collect'>;
  logger: Pick<Logger, 'warn' | 'info'>;
}

/** The traces, metrics and log lines that are sent by OpenTelemetry. */
export interface Telemetry {
  /** Undefined if calls are not traced. */
  tracing: Tracing | undefined;
  /** Sends what waits, for a limited time. */
  close(): Promise<void>;
}

/** Signals of OpenTelemetry, as its variables name them. */
type Signal = 'TRACES' | 'METRICS' | 'LOGS';

/**
 * Starts the signals that the standard variables of OpenTelemetry ask for. The modules of the others are not loaded.
 * The export of log lines starts first, so that it sends the log lines of the other signals, too.
 */
export async function composeTelemetry(parts: TelemetryParts): Promise<Telemetry> {
  const closeLogs = await startSignal(parts, {
    signal: 'LOGS',
    failure: 'log lines are not sent',
    packages: '@opentelemetry/sdk-logs @opentelemetry/resources @opentelemetry/exporter-logs-otlp-proto',
    start: async () => (await import('../telemetry/log-export.ts')).startLogExport(parts),
  });
  const closeMetrics = await startSignal(parts, {
    signal: 'METRICS',
    failure: 'metrics are not sent',
    packages:
      '@opentelemetry/sdk-metrics @opentelemetry/resources @opentelemetry/exporter-metrics-otlp-proto',
    start: async () => (await import('../telemetry/metric-export.ts')).startMetricExport(parts),
  });
  const tracing = await startSignal(parts, {
    signal: 'TRACES',
    failure: 'calls are not traced',
    packages: '@opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/exporter-trace-otlp-proto',
    start: async () =>
      (await import('../telemetry/tracing.ts')).startTracing({ ...parts, ...parts.settings.trace }),
  });
  return {
    tracing,
    async close() {
      await Promise.all([closeLogs?.(), closeMetrics?.(), tracing?.close()]);
    },
  };
}

/** A signal that may be started. */
interface StartableSignal<T> {
  signal: Signal;
  /** Beginning of a log message. */
  failure: string;
  /** Packages that it needs. */
  packages: string;
  start(): Promise<T>;
}

/** @returns undefined if the signal is not wanted, or cannot be started; the log then says why */
async function startSignal<T>(
  { environment, logger }: TelemetryParts,
  { signal, failure, packages, start }: StartableSignal<T>,
): Promise<T | undefined> {
  if (!isSignalWanted(environment, signal)) return undefined;
  const protocol =
    environment[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`] || environment.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol && protocol !== 'http/protobuf') {
    logger.warn({ protocol }, `${failure}: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf`);
    return undefined;
  }
  try {
    return await start();
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    if (isMissing) logger.warn(`${failure}: packages are missing. Run: npm i ${packages}`);
    else logger.warn({ err: error }, `${failure}: OpenTelemetry could not be started`);
    return undefined;
  }
}

/** Returns true if the variables name an OTLP endpoint or exporter, and none of them turns the signal off. */
export function isSignalWanted(environment: TelemetryParts['environment'], signal: Signal): boolean {
  if (environment.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false;
  const exporter = environment[`OTEL_${signal}_EXPORTER`];
  if (exporter) return exporter.split(',').some((name) => name.trim() === 'otlp');
  return Boolean(
    environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`],
  );
}
