import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { endedWithin } from '../collections/closing.ts';
import type { Logger } from '../observability/logger.ts';

/** Options of a signal that is sent to an OTLP endpoint. */
export interface TelemetryOptions {
  /** Environment variables of this process. The exporters read their own (`OTEL_EXPORTER_OTLP_…`) from the process. */
  environment: Readonly<Record<string, string | undefined>>;
  version: string;
  logger: Pick<Logger, 'warn' | 'info'>;
}

/** Longest wait for the last data when the server stops, in milliseconds. */
const lastExportMs = 2000;

/** Creates the resource of all signals; `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over its defaults. */
export function createResource(version: string): Resource {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'gatehouse', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
}

/** Returns a variable that is a positive whole number, or else the default of the standard. */
export function readNumber(
  environment: TelemetryOptions['environment'],
  name: string,
  standard: number,
): number {
  const value = Number(environment[name]);
  return environment[name] && Number.isSafeInteger(value) && value > 0 ? value : standard;
}

/**
 * Reads the limits of a batch processor.
 * @param kind prefix of its variables: `BSP` for spans, `BLRP` for log records
 * @param delayMs default of the pause between exports, in milliseconds
 */
export function readBatchLimits(
  environment: TelemetryOptions['environment'],
  kind: 'BSP' | 'BLRP',
  delayMs: number,
) {
  const read = (name: string, standard: number): number =>
    readNumber(environment, `OTEL_${kind}_${name}`, standard);
  return {
    maxQueueSize: read('MAX_QUEUE_SIZE', 2048),
    maxExportBatchSize: read('MAX_EXPORT_BATCH_SIZE', 512),
    scheduledDelayMillis: read('SCHEDULE_DELAY', delayMs),
    exportTimeoutMillis: read('EXPORT_TIMEOUT', 30_000),
  };
}

/** An exporter of a signal. */
interface Exporter<Items> {
  export(items: Items, done: (outcome: { error?: Error }) => void): void;
}

/**
 * Logs once when the endpoint begins to reject a signal, and once when it takes the signal again.
 * @param items name of the signal in the log
 */
export function reportFailures<Items>(
  exporter: Exporter<Items>,
  items: string,
  logger: TelemetryOptions['logger'],
): void {
  const send = exporter.export.bind(exporter);
  let isFailing = false;
  exporter.export = (batch, done) =>
    send(batch, (outcome) => {
      const { error } = outcome;
      // The error itself may quote the response of the endpoint.
      const { code } = Object(error) as { code?: unknown };
      if (error && !isFailing)
        logger.warn(
          { [typeof code === 'number' ? 'status' : 'errorCode']: code },
          `${items} are lost: the OTLP endpoint does not take them`,
        );
      if (!error && isFailing) logger.info(`the OTLP endpoint takes ${items} again`);
      isFailing = error !== undefined;
      done(outcome);
    });
}

/** Sends the last data of a signal, and waits for a limited time. The log has said so if the endpoint takes no data. */
export async function shutDown(provider: { shutdown(): Promise<void> }): Promise<void> {
  await endedWithin(
    lastExportMs,
    provider.shutdown().catch(() => undefined),
  );
}
