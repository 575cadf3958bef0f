import { Histogram, Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CollectedMetric, createMetrics } from '../../src/observability/metrics.ts';
import { startMetricExport, toMetricData } from '../../src/telemetry/metric-export.ts';

const period = { startTime: [1, 0], endTime: [2, 0] } satisfies Parameters<typeof toMetricData>[1];

describe('A histogram of Prometheus', () => {
  it('keeps its bounds, and has in each bucket only the values of that bucket', async () => {
    const registry = new Registry();
    const histogram = new Histogram({
      name: 'waits_seconds',
      help: 'Waits.',
      labelNames: ['route', 'status'],
      buckets: [0.1, 1, 10],
      registers: [registry],
    });
    for (const seconds of [0.1, 0.5, 0.6, 5, 50]) histogram.observe({ route: '/a', status: '2xx' }, seconds);
    histogram.observe({ route: '/b', status: '2xx' }, 100);
    const [collected] = (await registry.getMetricsAsJSON()) as unknown as CollectedMetric[];
    const { descriptor, dataPoints } = toMetricData(collected as CollectedMetric, period);
    expect(descriptor).toMatchObject({ name: 'waits_seconds', description: 'Waits.', unit: 's' });
    expect(dataPoints).toEqual([
      {
        ...period,
        attributes: { route: '/a', status: '2xx' },
        value: { count: 5, sum: 56.2, buckets: { boundaries: [0.1, 1, 10], counts: [1, 2, 1, 1] } },
      },
      {
        ...period,
        attributes: { route: '/b', status: '2xx' },
        value: { count: 1, sum: 100, buckets: { boundaries: [0.1, 1, 10], counts: [0, 0, 0, 1] } },
      },
    ]);
  });
});

describe('A number that is not finite', () => {
  it('is left out, with the other samples sent', () => {
    const metric = {
      ...{ name: 'held_bytes', help: 'Bytes.', type: 'gauge' as const },
      values: [
        { value: Number.NaN, labels: { of: 'a' } },
        { value: 3, labels: { of: 'b' } },
      ],
    };
    const { dataPoints, descriptor } = toMetricData(metric, period);
    expect(dataPoints).toEqual([{ ...period, attributes: { of: 'b' }, value: 3 }]);
    expect(descriptor.unit).toBe('By');
  });
});

describe('The export of metrics', () => {
  it.each([
    { OTEL_METRIC_EXPORT_INTERVAL: '10' },
    { OTEL_METRIC_EXPORT_INTERVAL: 'soon', OTEL_METRIC_EXPORT_TIMEOUT: '-1' },
  ])(
    'starts with an interval below the timeout, and with variables that are no numbers: %j',
    (environment) => {
      const logger = { warn: () => undefined, info: () => undefined };
      const end = startMetricExport({ environment, version: '1', metrics: createMetrics('1'), logger });
      onTestFinished(end);
      expect(end).toBeTypeOf('function');
    },
  );
});
