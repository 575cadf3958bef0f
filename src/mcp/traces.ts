import type { IncomingHttpHeaders } from 'node:http';
import { parseTraceContext, type TraceContext } from '../observability/trace-context.ts';
import { headerOf } from './http/dispatch.ts';
import type { Message } from './protocol.ts';

/** Returns the trace context that a message carries in `_meta` (MCP 2026-07-28 "OpenTelemetry trace context"). */
export function traceOf({ params }: Message): TraceContext | undefined {
  const { traceparent, tracestate } = Object(params?._meta) as Record<string, unknown>;
  return traceparent === undefined ? undefined : parseTraceContext(traceparent, tracestate);
}

/** Returns a message with another trace context. */
export function withTrace<M extends Message>(message: M, { traceparent, tracestate }: TraceContext): M {
  const { tracestate: _before, ...meta } = Object(message.params?._meta) as Record<string, unknown>;
  const _meta = { ...meta, traceparent, ...(tracestate && { tracestate }) };
  return { ...message, params: { ...message.params, _meta } };
}

/**
 * Reads the trace context of each message of a body, from its `_meta` or else from the HTTP headers. Changes the
 * messages: each request then carries its context in `_meta`, and no message carries a malformed one (C1-08).
 * The params of `initialize` are stored with its session, so a header adds nothing to them.
 * @returns the context of each message that has one
 */
export function settleTraces(
  headers: IncomingHttpHeaders,
  messages: readonly Message[],
): Map<Message, TraceContext> {
  const traces = new Map<Message, TraceContext>();
  const traceparent = headerOf(headers, 'traceparent');
  const ofHttp =
    traceparent === undefined ? undefined : parseTraceContext(traceparent, headerOf(headers, 'tracestate'));
  for (const message of messages) {
    const { id, method, params } = message;
    const meta = params?._meta as Record<string, unknown> | undefined;
    const isMarked = meta !== undefined && ('traceparent' in meta || 'tracestate' in meta);
    if (method === undefined || (!isMarked && !ofHttp)) continue;
    const own = isMarked ? traceOf(message) : undefined;
    const trace = own ?? ofHttp;
    if (trace) traces.set(message, trace);
    const told = own ?? (id === undefined || method === 'initialize' ? undefined : ofHttp);
    if (told) setParams(message, withTrace(message, told));
    else if (isMarked) setParams(message, withoutTrace(message, meta));
  }
  return traces;
}

/** Gives a message the params of its copy. Guards have read the message itself, so it stays the same object. */
export function setParams(message: Message, { params }: Message): void {
  if (params) message.params = params;
}

function withoutTrace(message: Message, meta: Record<string, unknown>): Message {
  const { traceparent: _parent, tracestate: _state, ...others } = meta;
  return { ...message, params: { ...message.params, _meta: others } };
}
