import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

/** The parts of opentelemetry-proto 1.x that tests read. */
const schema = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1;
  bytes span_id = 2;
  string trace_state = 3;
  bytes parent_span_id = 4;
  string name = 5;
  int32 kind = 6;
  repeated KeyValue attributes = 9;
  Status status = 15;
}
message Status { string message = 2; int32 code = 3; }
message ExportMetricsServiceRequest { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message ScopeMetrics { repeated Metric metrics = 2; }
message Metric {
  string name = 1;
  string description = 2;
  string unit = 3;
  oneof data { Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
}
message Gauge { repeated NumberDataPoint data_points = 1; }
message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
message NumberDataPoint {
  fixed64 start_time_unix_nano = 2;
  fixed64 time_unix_nano = 3;
  oneof value { double as_double = 4; sfixed64 as_int = 6; }
  repeated KeyValue attributes = 7;
}
message HistogramDataPoint {
  fixed64 start_time_unix_nano = 2;
  fixed64 time_unix_nano = 3;
  fixed64 count = 4;
  double sum = 5;
  repeated fixed64 bucket_counts = 6;
  repeated double explicit_bounds = 7;
  repeated KeyValue attributes = 9;
}
message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
message ScopeLogs { repeated LogRecord log_records = 2; }
message LogRecord {
  fixed64 time_unix_nano = 1;
  int32 severity_number = 2;
  string severity_text = 3;
  AnyValue body = 5;
  repeated KeyValue attributes = 6;
  bytes trace_id = 9;
  bytes span_id = 10;
}
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1;
    bool bool_value = 2;
    int64 int_value = 3;
    double double_value = 4;
    ArrayValue array_value = 5;
    KeyValueList kvlist_value = 6;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
`;
const types = protobuf.parse(schema).root;

/** A span as it was sent. */
export interface SentSpan {
  traceId: string;
  spanId: string;
  /** Empty for the first one of its trace. */
  parentSpanId: string;
  traceState: string;
  name: string;
  /** 2: server, 3: client. */
  kind: number;
  attributes: Record<string, unknown>;
  /** 2: error. */
  status: number;
  statusMessage: string;
  /** The resource that sent it. */
  resource: Record<string, unknown>;
}

/** A metric as it was sent. */
export interface SentMetric {
  name: string;
  unit: string;
  kind: 'gauge' | 'sum' | 'histogram';
  isMonotonic: boolean;
  /** 2: cumulative; 0 for a gauge. */
  temporality: number;
  points: {
    attributes: Record<string, unknown>;
    /** Undefined for a histogram. */
    value: number | undefined;
    count: number;
    sum: number;
    bucketCounts: number[];
    explicitBounds: number[];
    /** Time that the point covers, in nanoseconds. */
    nanoseconds: number;
  }[];
  resource: Record<string, unknown>;
}

/** A log record as it was sent. */
export interface SentLog {
  /** Epoch milliseconds. */
  at: number;
  severityNumber: number;
  severityText: string;
  body: unknown;
  attributes: Record<string, unknown>;
  /** Empty without a trace. */
  traceId: string;
  spanId: string;
  resource: Record<string, unknown>;
}

interface Value {
  arrayValue?: { values: Value[] };
  kvlistValue?: { values: Attribute[] };
}

interface Attribute {
  key: string;
  value: Value;
}

/** An OTLP/HTTP endpoint on loopback. */
export interface OtlpReceiver {
  url: string;
  spans: SentSpan[];
  /** Each metric of each export. */
  metrics: SentMetric[];
  logs: SentLog[];
  /** Headers of each request. */
  requests: IncomingHttpHeaders[];
  /** All bytes that came, as text. */
  text(): string;
  /** Has it refuse what comes, not answer at all, or take it again. */
  be(mood: 'well' | 'refusing' | 'silent'): void;
  stop(): Promise<void>;
}

/** Starts an endpoint that takes traces, metrics and logs as Protobuf. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: SentSpan[] = [];
  const metrics: SentMetric[] = [];
  const logs: SentLog[] = [];
  const takes: Record<string, (body: Buffer) => void> = {
    '/v1/traces': (body) => spans.push(...readSpans(body)),
    '/v1/metrics': (body) => metrics.push(...readMetrics(body)),
    '/v1/logs': (body) => logs.push(...readLogs(body)),
  };
  const requests: IncomingHttpHeaders[] = [];
  const bodies: Buffer[] = [];
  let mood: Parameters<OtlpReceiver['be']>[0] = 'well';
  const server = createServer(async (request, response) => {
    requests.push(request.headers);
    const body = Buffer.concat(await request.toArray());
    if (mood === 'silent') return;
    const take = takes[request.url ?? ''];
    if (mood === 'refusing' || !take) {
      response.writeHead(400).end('what was sent here is not told to anybody');
      return;
    }
    bodies.push(body);
    take(body);
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    logs,
    requests,
    text: () => Buffer.concat(bodies).toString('latin1'),
    be(next) {
      mood = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface RawResource {
  attributes: Attribute[];
}

function decode<T>(type: string, body: Buffer): T {
  const message = types.lookupType(type);
  return message.toObject(message.decode(body), { bytes: Buffer, longs: Number, arrays: true }) as T;
}

function readSpans(body: Buffer): SentSpan[] {
  const { resourceSpans } = decode<{
    resourceSpans: { resource: RawResource; scopeSpans: { spans: RawSpan[] }[] }[];
  }>('ExportTraceServiceRequest', body);
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(({ traceId, spanId, parentSpanId, attributes, status, ...span }) => ({
        traceId: traceId.toString('hex'),
        spanId: spanId.toString('hex'),
        parentSpanId: parentSpanId?.toString('hex') ?? '',
        traceState: span.traceState ?? '',
        name: span.name,
        kind: span.kind,
        attributes: readAttributes(attributes),
        status: status?.code ?? 0,
        statusMessage: status?.message ?? '',
        resource: readAttributes(resource.attributes),
      })),
    ),
  );
}

function readMetrics(body: Buffer): SentMetric[] {
  const { resourceMetrics } = decode<{
    resourceMetrics: { resource: RawResource; scopeMetrics: { metrics: RawMetric[] }[] }[];
  }>('ExportMetricsServiceRequest', body);
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap((scope) =>
      scope.metrics.map(({ name, unit = '', gauge, sum, histogram }) => {
        const {
          dataPoints,
          aggregationTemporality = 0,
          isMonotonic = false,
        } = gauge ?? sum ?? histogram ?? { dataPoints: [] };
        return {
          ...{ name, unit, isMonotonic, temporality: aggregationTemporality },
          kind: gauge ? 'gauge' : sum ? 'sum' : 'histogram',
          points: dataPoints.map(({ attributes, asDouble, asInt, ...point }) => ({
            attributes: readAttributes(attributes),
            value: asDouble ?? asInt,
            count: point.count ?? 0,
            sum: point.sum ?? 0,
            bucketCounts: point.bucketCounts ?? [],
            explicitBounds: point.explicitBounds ?? [],
            nanoseconds: point.timeUnixNano - point.startTimeUnixNano,
          })),
          resource: readAttributes(resource.attributes),
        };
      }),
    ),
  );
}

function readLogs(body: Buffer): SentLog[] {
  const { resourceLogs } = decode<{
    resourceLogs: { resource: RawResource; scopeLogs: { logRecords: RawLog[] }[] }[];
  }>('ExportLogsServiceRequest', body);
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap((scope) =>
      scope.logRecords.map(({ timeUnixNano, traceId, spanId, attributes, ...record }) => ({
        at: Math.round(timeUnixNano / 1_000_000),
        severityNumber: record.severityNumber,
        severityText: record.severityText,
        body: readValue(record.body),
        attributes: readAttributes(attributes),
        traceId: traceId?.toString('hex') ?? '',
        spanId: spanId?.toString('hex') ?? '',
        resource: readAttributes(resource.attributes),
      })),
    ),
  );
}

interface RawSpan {
  traceId: Buffer;
  spanId: Buffer;
  parentSpanId?: Buffer;
  traceState?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  status?: { code?: number; message?: string };
}

interface RawPoints {
  aggregationTemporality?: number;
  isMonotonic?: boolean;
  dataPoints: {
    startTimeUnixNano: number;
    timeUnixNano: number;
    attributes: Attribute[];
    asDouble?: number;
    asInt?: number;
    count?: number;
    sum?: number;
    bucketCounts?: number[];
    explicitBounds?: number[];
  }[];
}

interface RawMetric extends Partial<Record<'gauge' | 'sum' | 'histogram', RawPoints>> {
  name: string;
  unit?: string;
}

interface RawLog {
  timeUnixNano: number;
  severityNumber: number;
  severityText: string;
  body: Value;
  attributes: Attribute[];
  traceId?: Buffer;
  spanId?: Buffer;
}

function readAttributes(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));
}

function readValue({ arrayValue, kvlistValue, ...simple }: Value): unknown {
  if (arrayValue) return arrayValue.values.map(readValue);
  return kvlistValue ? readAttributes(kvlistValue.values) : Object.values(simple)[0];
}
