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
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`;
const requestType = protobuf.parse(schema).root.lookupType('ExportTraceServiceRequest');

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

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

/** An OTLP/HTTP endpoint on loopback. */
export interface OtlpReceiver {
  url: string;
  spans: SentSpan[];
  /** Headers of each request. */
  requests: IncomingHttpHeaders[];
  /** All bytes that came, as text. */
  text(): string;
  /** Has it refuse what comes, not answer at all, or take it again. */
  be(mood: 'well' | 'refusing' | 'silent'): void;
  stop(): Promise<void>;
}

/** Starts an endpoint that takes traces as Protobuf. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: SentSpan[] = [];
  const requests: IncomingHttpHeaders[] = [];
  const bodies: Buffer[] = [];
  let mood: Parameters<OtlpReceiver['be']>[0] = 'well';
  const server = createServer(async (request, response) => {
    requests.push(request.headers);
    const body = Buffer.concat(await request.toArray());
    if (mood === 'silent') return;
    if (mood === 'refusing' || request.url !== '/v1/traces') {
      response.writeHead(400).end('what was sent here is not told to anybody');
      return;
    }
    bodies.push(body);
    spans.push(...readSpans(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
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

function readSpans(body: Buffer): SentSpan[] {
  const { resourceSpans = [] } = requestType.toObject(requestType.decode(body), {
    ...{ bytes: Buffer, longs: Number, arrays: true },
  }) as { resourceSpans?: { resource?: { attributes: Attribute[] }; scopeSpans: { spans: RawSpan[] }[] }[] };
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
        resource: readAttributes(resource?.attributes ?? []),
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

function readAttributes(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
