import {
  type Attributes,
  createTraceState,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { BackendTracer } from '../gateway/index.ts';
import type { CallEnding, CallTracer } from '../mcp/index.ts';
import { formatTraceContext, type TraceContext } from '../observability/trace-context.ts';
import { createResource, readBatchLimits, reportFailures, shutDown, type TelemetryOptions } from './otlp.ts';

/**
 * Names of attributes: the semantic conventions for MCP, version 1.41.0, and our own. Those of `mcp` and `gen_ai` are in
 * development there, and may be renamed.
 */
const named = {
  method: 'mcp.method.name',
  revision: 'mcp.protocol.version',
  tool: 'gen_ai.tool.name',
  prompt: 'gen_ai.prompt.name',
  operation: 'gen_ai.operation.name',
  jsonRpcId: 'jsonrpc.request.id',
  errorType: 'error.type',
  transport: 'network.transport',
  account: 'gatehouse.account.id',
  client: 'gatehouse.client.id',
  route: 'gatehouse.route',
  backend: 'gatehouse.backend',
  requestId: 'gatehouse.request.id',
  reason: 'gatehouse.reason',
} as const;

/** Error type of a result with `isError`. */
const toolError = 'tool_error';

/** Longest name and id in a span, in characters: clients choose them. */
const maxLength = 128;

/** Options of {@link startTracing}. */
export interface TracingOptions extends TelemetryOptions {
  /** `link` begins a trace for each call, with a link to the span of its client; `follow` continues that of the client. */
  parent: 'follow' | 'link';
}

/** Traces of calls. */
export interface Tracing {
  /** Returns the tracer of the calls of a route. */
  callsOf(route: string): CallTracer;
  /** Returns the tracer of the requests to a backend of a route. */
  backendOf(route: string, backend: { key?: string | undefined; isProgram: boolean }): BackendTracer;
  /** Sends the spans that wait, for a limited time. */
  close(): Promise<void>;
}

/**
 * Starts to trace calls: with the SDK that the process has registered, or else with an own one that sends spans to the
 * OTLP endpoint of the environment. Spans contain no arguments, results, texts of errors and resource URIs.
 */
export function startTracing(options: TracingOptions): Tracing {
  const { version, parent } = options;
  const registered = trace.getTracerProvider();
  const foreign =
    registered instanceof ProxyTracerProvider
      ? registered.getDelegateTracer('mcp-gatehouse', version)
      : registered.getTracer('mcp-gatehouse', version);
  const own = foreign ? undefined : createProvider(options);
  const tracer = foreign ?? (own as TracerProvider).getTracer('mcp-gatehouse', version);
  return {
    callsOf: (route) => createCallTracer(tracer, route, parent),
    backendOf(route, { key, isProgram }) {
      const place = {
        [named.route]: route,
        [named.transport]: isProgram ? 'pipe' : 'tcp',
        ...(key !== undefined && { [named.backend]: key }),
      };
      return createBackendTracer(tracer, place);
    },
    async close() {
      if (own) await shutDown(own);
    },
  };
}

function createCallTracer(tracer: Tracer, route: string, rule: TracingOptions['parent']): CallTracer {
  return {
    begin({ id, method, target, parent: caller, authInfo, revision }) {
      const attributes: Attributes = {
        ...describe(method, target),
        [named.jsonRpcId]: shorten(typeof id === 'string' ? id : JSON.stringify(id)),
        [named.transport]: 'tcp',
        [named.account]: authInfo.subject,
        [named.client]: shorten(authInfo.clientId),
        [named.route]: route,
      };
      if (revision !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(revision))
        attributes[named.revision] = revision;
      const remote = caller && spanContextOf(caller, true);
      const origin = rule === 'follow' ? { parent: remote } : { link: remote };
      const span = start(tracer, { method, target, attributes, kind: SpanKind.SERVER, ...origin });
      return {
        context: contextOf(span),
        end({ ending, requestId, notes }) {
          if (span.isRecording()) {
            span.setAttribute(named.requestId, requestId);
            if (notes.backend !== undefined) span.setAttribute(named.backend, notes.backend);
            if (ending.kind === 'cancelled') span.setAttribute(named.reason, ending.kind);
            if (ending.kind === 'refused') span.setAttribute(named.reason, ending.reason);
            fail(span, errorTypeOf(ending));
          }
          span.end();
        },
      };
    },
  };
}

function createBackendTracer(tracer: Tracer, place: Attributes): BackendTracer {
  return {
    begin({ method, params }, parent) {
      const target = typeof params?.name === 'string' ? params.name : undefined;
      const attributes = { ...describe(method, target), ...place };
      const span = start(tracer, {
        ...{ method, target, attributes, kind: SpanKind.CLIENT },
        parent: spanContextOf(parent, false),
      });
      return {
        context: contextOf(span),
        end({ result, error }, isCancelled) {
          if (isCancelled) span.setAttribute(named.reason, 'cancelled');
          else if (error) fail(span, codeOf(error.code));
          else if (result?.isError === true) fail(span, toolError);
          span.end();
        },
      };
    },
  };
}

/** A span that begins. */
interface Begun {
  method: string;
  target: string | undefined;
  attributes: Attributes;
  kind: SpanKind;
  /** Undefined for the first span of a trace. */
  parent?: SpanContext | undefined;
  /** A span of another trace that has caused this one. */
  link?: SpanContext | undefined;
}

function start(tracer: Tracer, { method, target, attributes, kind, parent, link }: Begun): Span {
  const name = isNamed(method) && target !== undefined ? `${method} ${shorten(target)}` : method;
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
  return tracer.startSpan(name, { kind, attributes, ...(link && { links: [{ context: link }] }) }, context);
}

/** @param isRemote true if another process has sent the context */
function spanContextOf(
  { traceId, spanId, isSampled, tracestate }: TraceContext,
  isRemote: boolean,
): SpanContext {
  return {
    ...{ traceId, spanId, isRemote },
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
}

function contextOf(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
  const tracestate = traceState?.serialize();
  return formatTraceContext({ traceId, spanId, isSampled, ...(tracestate && { tracestate }) });
}

function fail(span: Span, errorType: string | undefined): void {
  if (errorType === undefined) return;
  span.setAttribute(named.errorType, errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function errorTypeOf(ending: CallEnding): string | undefined {
  switch (ending.kind) {
    case 'tool_error':
      return toolError;
    case 'refused':
      return ending.code === undefined ? ending.reason : codeOf(ending.code);
    case 'error':
      return codeOf(ending.error.code);
    default:
      return undefined;
  }
}

/** Returns the error type of a code; other servers may write anything there. */
function codeOf(code: unknown): string {
  return Number.isSafeInteger(code) ? String(code) : '_OTHER';
}

/** Returns true if the target of a method is the name of a tool or prompt; URIs may hold secrets. */
function isNamed(method: string): boolean {
  return method === 'tools/call' || method === 'prompts/get';
}

function describe(method: string, target: string | undefined): Attributes {
  const attributes: Attributes = { [named.method]: method };
  if (method === 'tools/call') attributes[named.operation] = 'execute_tool';
  if (isNamed(method) && target !== undefined)
    attributes[method === 'tools/call' ? named.tool : named.prompt] = shorten(target);
  return attributes;
}

function shorten(text: string): string {
  return text.slice(0, maxLength);
}

function createProvider({ environment, version, logger }: TelemetryOptions): TracerProvider {
  const exporter = new OTLPTraceExporter();
  reportFailures(exporter, 'spans', logger);
  const processor = new BatchSpanProcessor({ exporter, ...readBatchLimits(environment, 'BSP', 5000) });
  const sampler = createSampler(environment, logger);
  return new TracerProvider({ resource: createResource(version), sampler, spanProcessors: [processor] });
}

/**
 * Creates the sampler of `OTEL_TRACES_SAMPLER`. Its `parentbased_…` follow our own spans alone: a stranger who marks a
 * call as sampled must not decide what we send.
 */
function createSampler(
  { OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: argument }: TelemetryOptions['environment'],
  logger: TelemetryOptions['logger'],
): Sampler {
  const kind = name.replace(/^parentbased_/, '');
  const ratio = argument ? Number(argument) : 1;
  const isKnown = ['', 'always_on', 'always_off', 'traceidratio'].includes(kind);
  if (!isKnown || (kind === 'traceidratio' && !(ratio >= 0 && ratio <= 1)))
    logger.warn('OTEL_TRACES_SAMPLER or OTEL_TRACES_SAMPLER_ARG cannot be read: every call is traced');
  const root =
    kind === 'always_off'
      ? new AlwaysOffSampler()
      : kind === 'traceidratio' && ratio >= 0 && ratio <= 1
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
}
