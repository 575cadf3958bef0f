import { type HrTime, ValueType } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { CollectedMetric, Metrics } from '../observability/metrics.ts';
import { createResource, readNumber, reportFailures, shutDown, type TelemetryOptions } from './otlp.ts';

/** Options of {@link startMetricExport}. */
export interface MetricExportOptions extends TelemetryOptions {
  metrics: Pick<Metrics, 'collect'>;
}

/**
 * Starts to send the metrics to the OTLP endpoint of the environment, under the names that they have for Prometheus.
 * Counters and histograms are cumulative since the start of the server, whatever temporality the environment prefers.
 * @returns a function that sends the metrics once more, and stops the export
 */
export function startMetricExport(options: MetricExportOptions): () => Promise<void> {
  const { environment, version, logger } = options;
  const exporter = new OTLPMetricExporter();
  reportFailures(exporter, 'metrics', logger);
  const exportIntervalMillis = readNumber(environment, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(
      readNumber(environment, 'OTEL_METRIC_EXPORT_TIMEOUT', 30_000),
      exportIntervalMillis,
    ),
    metricProducers: [createProducer(options)],
  });
  const provider = new MeterProvider({ resource: createResource(version), readers: [reader] });
  return () => shutDown(provider);
}

/** Beginning and end of the time that a data point covers. */
type Period = Pick<DataPoint<unknown>, 'startTime' | 'endTime'>;

function createProducer({ metrics, version }: MetricExportOptions): MetricProducer {
  const scope = { name: 'mcp-gatehouse', version };
  const startTime = hrTimeOf(Date.now());
  return {
    async collect() {
      const collected = await metrics.collect();
      const period = { startTime, endTime: hrTimeOf(Date.now()) };
      const data = collected
        .map((metric) => toMetricData(metric, period))
        .filter(({ dataPoints }) => dataPoints.length > 0);
      return {
        resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics: data }] },
        errors: [],
      };
    },
  };
}

/** Maps a metric of Prometheus to the data model of OpenTelemetry. */
export function toMetricData({ name, help, type, values }: CollectedMetric, period: Period): MetricData {
  const described = {
    descriptor: { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (type === 'histogram')
    return { ...described, dataPointType: DataPointType.HISTOGRAM, dataPoints: toHistograms(values, period) };
  // Some gauges of the process are NaN until they have measured something.
  const dataPoints = values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ value, labels }) => ({ ...period, attributes: labels, value }));
  return type === 'counter'
    ? { ...described, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...described, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** Joins the samples of histograms: Prometheus has one for each bucket, which contains the smaller buckets. */
function toHistograms(values: CollectedMetric['values'], period: Period): DataPoint<Histogram>[] {
  const series = new Map<string, DataPoint<Histogram>>();
  for (const { metricName = '', value, labels } of values) {
    const { le, ...attributes } = labels;
    const key = JSON.stringify(attributes);
    const point = series.get(key) ?? {
      ...{ ...period, attributes },
      value: { count: 0, sum: 0, buckets: { boundaries: [], counts: [] } },
    };
    series.set(key, point);
    const { boundaries, counts } = point.value.buckets;
    if (metricName.endsWith('_sum')) point.value.sum = value;
    else if (metricName.endsWith('_count')) point.value.count = value;
    else {
      counts.push(value - counts.reduce((sum, count) => sum + count, 0));
      if (typeof le === 'number') boundaries.push(le);
    }
  }
  return [...series.values()];
}

/** Returns the unit that a name of Prometheus ends with, in UCUM. */
function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's';
  return /_bytes(_total)?$/.test(name) ? 'By' : '';
}

function hrTimeOf(ms: number): HrTime {
  return [Math.trunc(ms / 1000), (ms % 1000) * 1_000_000];
}
