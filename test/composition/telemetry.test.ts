import { describe, expect, it } from 'vitest';
import { composeTelemetry, isSignalWanted } from '../../src/composition/telemetry.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { parseSettings } from '../../src/options.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

describe.each(['TRACES', 'METRICS', 'LOGS'] as const)('The signal %s', (signal) => {
  const another = signal === 'LOGS' ? 'TRACES' : 'LOGS';

  it.each([
    endpoint,
    { [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]: 'http://127.0.0.1:9' },
    { [`OTEL_${signal}_EXPORTER`]: 'otlp' },
    { [`OTEL_${signal}_EXPORTER`]: 'console, otlp' },
    { ...endpoint, OTEL_SDK_DISABLED: 'false' },
    { ...endpoint, [`OTEL_${another}_EXPORTER`]: 'none' },
  ])('is sent with %j', (environment) => {
    expect(isSignalWanted(environment, signal)).toBe(true);
  });

  it.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_SERVICE_NAME: 'gatehouse' },
    { [`OTEL_EXPORTER_OTLP_${another}_ENDPOINT`]: 'http://127.0.0.1:9' },
    { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' },
    { ...endpoint, [`OTEL_${signal}_EXPORTER`]: 'none' },
    { ...endpoint, [`OTEL_${signal}_EXPORTER`]: 'console' },
  ])('is not sent with %j', (environment) => {
    expect(isSignalWanted(environment, signal)).toBe(false);
  });

  it('is not sent over another protocol than http/protobuf, and the log says so', async () => {
    const lines: unknown[] = [];
    const logger = { warn: (...line: unknown[]) => lines.push(line), info: () => undefined };
    const environment = {
      [`OTEL_${signal}_EXPORTER`]: 'otlp',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`]: 'grpc',
    };
    const settings = parseSettings({});
    const parts = { environment, version: '1', settings, metrics: createMetrics('1'), logger };
    const { tracing, close } = await composeTelemetry(parts);
    expect(tracing).toBeUndefined();
    await close();
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain('http/protobuf');
  });
});
