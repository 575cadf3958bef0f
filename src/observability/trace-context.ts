import { AsyncLocalStorage } from 'node:async_hooks';

/** Place of a request in a distributed trace. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits. */
  traceId: string;
  /** The span that sent the request, 16 lower-case hexadecimal digits. */
  spanId: string;
  isSampled: boolean;
  /** The header value that the other members were read from. */
  traceparent: string;
  tracestate?: string;
}

const traceparentForm =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const sampledFlag = 1;

/** Printable characters of a header value. */
const tracestateForm = /^[\x20-\x7e]+$/;

/** Longest `tracestate` and longest `traceparent` of a later version that are passed on, in characters. */
const maxLength = 512;

/**
 * Reads a trace context. A malformed `tracestate` alone is left out.
 * @returns undefined without a valid `traceparent`
 * @see W3C Trace Context sections 3.2 and 3.3
 */
export function parseTraceContext(traceparent: unknown, tracestate: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > maxLength) return undefined;
  const [, version, traceId, spanId, flags, rest] = traceparentForm.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && rest !== undefined))
    return undefined;
  if (rest !== undefined && !tracestateForm.test(rest)) return undefined;
  const hasState =
    typeof tracestate === 'string' && tracestate.length <= maxLength && tracestateForm.test(tracestate);
  return {
    traceId,
    spanId,
    isSampled: (Number.parseInt(flags ?? '', 16) & sampledFlag) === sampledFlag,
    traceparent,
    ...(hasState && { tracestate }),
  };
}

/** Writes a trace context of version 00. */
export function formatTraceContext({
  traceId,
  spanId,
  isSampled,
  tracestate,
}: Omit<TraceContext, 'traceparent'>): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return { traceId, spanId, isSampled, traceparent, ...(tracestate && { tracestate }) };
}

/** A request whose log lines name its trace. */
export interface TracedRequest {
  readonly traceId: string;
  readonly spanId: string;
  /** True once it is answered: connections and timers that it has started live on, and work for others. */
  isOver: boolean;
}

const running = new AsyncLocalStorage<TracedRequest>();

/** Runs the handling of a request. Log lines that are written meanwhile name its trace. */
export function runTraced<T>(request: TracedRequest, work: () => T): T {
  return running.run(request, work);
}

/** Returns the members of a log line that name the trace of the running request; empty without a trace. */
export function traceOfLogLine(): { traceId?: string; spanId?: string } {
  const request = running.getStore();
  return request && !request.isOver ? { traceId: request.traceId, spanId: request.spanId } : {};
}
