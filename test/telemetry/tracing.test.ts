import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FinishedCall, StartedCall } from '../../src/mcp/index.ts';
import { formatTraceContext } from '../../src/observability/trace-context.ts';
import { startTracing, type TracingOptions } from '../../src/telemetry/tracing.ts';
import { callerNamed } from '../mcp/sdk/support/talk.ts';

const parent = formatTraceContext({
  ...{ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' },
  isSampled: true,
});
const call: StartedCall = {
  ...{ id: 'x'.repeat(500), method: 'tools/call', target: 'y'.repeat(500), parent },
  ...{ authInfo: callerNamed('ann'), transport: 'http', revision: 'not a revision' },
};
const finished: FinishedCall = {
  ...{
    ...call,
    at: 0,
    ms: 1,
    waitMs: undefined,
    arguments: undefined,
    bytesIn: 1,
    bytesOut: 1,
    requestId: 'r',
    notes: {},
  },
  ...{ traceId: parent.traceId, ending: { kind: 'result' } },
};

function start(environment: Record<string, string | undefined>, rule: TracingOptions['parent'] = 'follow') {
  const lines: unknown[] = [];
  const logger = { warn: (line: unknown) => lines.push(line), info: () => undefined };
  const tracing = startTracing({ environment, version: '1', parent: rule, logger });
  onTestFinished(() => tracing.close());
  return { tracing, lines };
}

describe('A call', () => {
  it.each([
    { OTEL_TRACES_SAMPLER: 'always_off' },
    { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
    { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
  ])('that its client marks as sampled is not sent with %j, and keeps its trace', (environment) => {
    const { tracing, lines } = start(environment);
    const { context } = tracing.callsOf('/').begin(call);
    expect(context).toMatchObject({ traceId: parent.traceId, isSampled: false });
    const backend = tracing.backendOf('/', { isProgram: true });
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} } as const;
    expect(backend.begin(request, context).context).toMatchObject({ isSampled: false });
    expect(lines).toEqual([]);
  });

  it.each([
    { OTEL_TRACES_SAMPLER: 'jaeger_remote' },
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'a half' },
  ])('is traced with the unknown sampler %j, and the log says so', (environment) => {
    const { tracing, lines } = start(environment);
    expect(tracing.callsOf('/').begin({ ...call, parent: undefined }).context.isSampled).toBe(true);
    expect(lines).toHaveLength(1);
  });

  it('is traced by the SDK that the process has registered, with bounded names', () => {
    const exporter = new InMemorySpanExporter();
    const spanProcessors = [new SimpleSpanProcessor({ exporter })];
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
    onTestFinished(() => trace.disable());
    const { tracing } = start({});
    tracing
      .callsOf('/notes')
      .begin(call)
      .end({ ...finished, ending: { kind: 'cancelled' } });
    const [span] = exporter.getFinishedSpans();
    expect(span?.name).toBe(`tools/call ${'y'.repeat(128)}`);
    expect(span?.parentSpanContext?.spanId).toBe(parent.spanId);
    expect(span?.attributes).toMatchObject({
      'jsonrpc.request.id': 'x'.repeat(128),
      'gatehouse.reason': 'cancelled',
      'gatehouse.route': '/notes',
    });
    expect(span?.attributes).not.toHaveProperty('mcp.protocol.version');
    expect(span?.attributes).not.toHaveProperty('error.type');
  });

  it('begins a trace of its own with a link to its caller, if the settings say so', () => {
    const exporter = new InMemorySpanExporter();
    const spanProcessors = [new SimpleSpanProcessor({ exporter })];
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
    onTestFinished(() => trace.disable());
    const { tracing } = start({}, 'link');
    const { context, end } = tracing
      .callsOf('/')
      .begin({ ...call, parent: { ...parent, tracestate: 'a=b' } });
    end(finished);
    const [span] = exporter.getFinishedSpans();
    expect(span?.parentSpanContext).toBeUndefined();
    expect(span?.spanContext().traceId).not.toBe(parent.traceId);
    expect(span?.links).toMatchObject([{ context: { traceId: parent.traceId, spanId: parent.spanId } }]);
    expect(context).toEqual({
      ...{ traceId: span?.spanContext().traceId, spanId: span?.spanContext().spanId, isSampled: true },
      traceparent: expect.any(String),
    });
    tracing
      .callsOf('/')
      .begin({ ...call, parent: undefined })
      .end(finished);
    expect(exporter.getFinishedSpans()[1]?.links).toEqual([]);
  });

  it.each([
    [{ kind: 'refused', reason: 'insufficient_scope' }, 'insufficient_scope'],
    [{ kind: 'refused', reason: 'not_allowed', code: -32602 }, '-32602'],
    [{ kind: 'error', error: { code: -32000, message: 'a secret text' } }, '-32000'],
    [{ kind: 'error', error: { code: 'nonsense' as unknown as number, message: '' } }, '_OTHER'],
    [{ kind: 'tool_error' }, 'tool_error'],
  ] as const)('that ended with %j has the error type %s', (ending, errorType) => {
    const exporter = new InMemorySpanExporter();
    const spanProcessors = [new SimpleSpanProcessor({ exporter })];
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
    onTestFinished(() => trace.disable());
    const { tracing } = start({});
    const resource = { ...call, method: 'resources/read', target: 'notes://user:secret@host/a?b' };
    tracing
      .callsOf('/')
      .begin(resource)
      .end({ ...finished, ending });
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({ name: 'resources/read', status: { code: 2 } });
    expect(span?.attributes['error.type']).toBe(errorType);
    expect(JSON.stringify([span?.attributes, span?.status])).not.toContain('secret');
  });
});
