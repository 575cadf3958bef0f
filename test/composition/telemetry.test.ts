import { describe, expect, it } from 'vitest';
import { composeTracing, isTracingWanted } from '../../src/composition/tracing.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

describe('Calls', () => {
  it.each([
    endpoint,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9' },
    { OTEL_TRACES_EXPORTER: 'otlp' },
    { OTEL_TRACES_EXPORTER: 'console, otlp' },
    { ...endpoint, OTEL_SDK_DISABLED: 'false' },
  ])('are traced with %j', (environment) => {
    expect(isTracingWanted(environment)).toBe(true);
  });

  it.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_SERVICE_NAME: 'gatehouse' },
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:9' },
    { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'console' },
  ])('are not traced with %j', (environment) => {
    expect(isTracingWanted(environment)).toBe(false);
  });

  it('are not traced over another protocol than http/protobuf, and the log says so', async () => {
    const lines: unknown[] = [];
    const logger = { warn: (...line: unknown[]) => lines.push(line), info: () => undefined };
    const environment = { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    expect(await composeTracing({ environment, version: '1', logger })).toBeUndefined();
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain('http/protobuf');
  });
});
