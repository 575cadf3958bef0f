import type { Logger } from '../observability/logger.ts';
import type { Tracing } from '../telemetry/tracing.ts';

/** Parts of {@link composeTracing}. */
export interface TracingParts {
  /** Environment variables of this process. */
  environment: Readonly<Record<string, string | undefined>>;
  version: string;
  logger: Pick<Logger, 'warn' | 'info'>;
}

const packages = '@opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/exporter-trace-otlp-proto';

/**
 * Starts to trace calls if the standard variables of OpenTelemetry ask for it. Without them nothing is loaded.
 * @returns undefined if calls are not traced
 */
export async function composeTracing(parts: TracingParts): Promise<Tracing | undefined> {
  const { environment, logger } = parts;
  if (!isTracingWanted(environment)) return undefined;
  const { OTEL_EXPORTER_OTLP_PROTOCOL: general, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol = general } =
    environment;
  if (protocol && protocol !== 'http/protobuf') {
    logger.warn(
      { protocol },
      'calls are not traced: only http/protobuf of OTEL_EXPORTER_OTLP_PROTOCOL is spoken',
    );
    return undefined;
  }
  try {
    const { startTracing } = await import('../telemetry/tracing.ts');
    return startTracing(parts);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    if (isMissing) logger.warn(`calls are not traced: packages are missing. Run: npm i ${packages}`);
    else logger.warn({ err: error }, 'calls are not traced: OpenTelemetry could not be started');
    return undefined;
  }
}

/** Returns true if the variables name an OTLP endpoint or exporter, and none of them turns traces off. */
export function isTracingWanted(environment: TracingParts['environment']): boolean {
  const {
    OTEL_SDK_DISABLED: disabled = '',
    OTEL_TRACES_EXPORTER: exporter = '',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = '',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint = '',
  } = environment;
  if (disabled.trim().toLowerCase() === 'true') return false;
  if (exporter !== '') return exporter.split(',').some((name) => name.trim() === 'otlp');
  return endpoint !== '' || tracesEndpoint !== '';
}
