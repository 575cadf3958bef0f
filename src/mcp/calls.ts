import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../oauth/auth-info.ts';
import {
  parseTraceContext,
  runTraced,
  type TraceContext,
  type TracedRequest,
} from '../observability/trace-context.ts';
import { headerOf } from './http/dispatch.ts';
import type { Exchange, ExchangeCalls, Posted, ServePosted } from './http/exchange.ts';
import { textLength } from './http/node-reply.ts';
import { codeOfRefusal, type Refusal } from './http/refusal.ts';
import { ServedElsewhere } from './peers.ts';
import { isRecord, type JsonRpcError, type Message, type RequestMessage } from './protocol.ts';
import { callTimedOut, internalError, ownReasonOf } from './sdk/json-rpc-errors.ts';

/** Methods whose calls are recorded, with the member of their params that names the target. */
const recordedMethods: ReadonlyMap<string, 'name' | 'uri' | 'ref'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['completion/complete', 'ref'],
]);

/** Facts about a call that only the parts behind the transports know. */
export interface CallNotes {
  /** Key of the backend, if the route has several. */
  backend?: string;
  /** Hash of the definition of the tool. */
  definition?: string;
  isCached?: boolean;
  /** True if the request was sent to the backend more than once. */
  isRetried?: boolean;
  /** Reason why a policy of the route rejected the call. */
  refusal?: string;
  /** Generations of the upstream tokens that the backend got, by the name of the upstream. */
  generations?: Readonly<Record<string, number>>;
  /** Time at which the request was first sent to the backend, by `performance.now()`. */
  sentAtMs?: number;
}

/** A call that is over. */
export interface FinishedCall {
  /** Arrival, epoch milliseconds. */
  at: number;
  /** Milliseconds from arrival to response. */
  ms: number;
  /** Milliseconds from arrival until the request was first sent to a backend; undefined if it was not. */
  waitMs: number | undefined;
  authInfo: AuthInfo;
  transport: 'http' | 'sse' | 'rest';
  /** Protocol revision; undefined if the request did not name it. */
  revision: string | undefined;
  method: string;
  /** Tool, prompt, or URI, as the client wrote it. */
  target: string | undefined;
  /** The arguments; undefined if there are none. */
  arguments: Record<string, unknown> | undefined;
  /** Length of the body. */
  bytesIn: number;
  /** Length of the texts in the response. */
  bytesOut: number;
  requestId: string;
  /** W3C trace id; undefined if the caller sent none, and Gatehouse traces no calls. */
  traceId: string | undefined;
  notes: CallNotes;
  ending: CallEnding;
}

/** The end of a call. */
export type CallEnding =
  | { kind: 'result' | 'tool_error' | 'input_required' | 'cancelled' }
  | { kind: 'refused'; reason: string; code?: number }
  | {
      kind: 'error' | 'timed_out';
      error: JsonRpcError;
      /** `data.reason` of an error that Gatehouse made. */
      reason?: string;
    };

/** Takes the calls of an endpoint. */
export interface CallRecorder {
  /** True if a response is sent only once its call is recorded; otherwise calls are recorded behind it. */
  readonly isRequired: boolean;
  /** Returns false if each call must be recorded, and none can be at present. */
  isReady(): boolean;
  /**
   * Records a call.
   * @returns undefined if the response need not wait; else a promise of whether the call was made durable
   */
  record(call: FinishedCall): Promise<boolean> | undefined;
}

/** A call that begins. */
export interface StartedCall
  extends Pick<FinishedCall, 'authInfo' | 'transport' | 'revision' | 'method' | 'target'> {
  /** JSON-RPC id. */
  id: RequestId;
  /** Trace context of the caller, if any. */
  parent: TraceContext | undefined;
}

/** Span of a call. */
export interface CallSpan {
  /** Context for the parts behind. */
  readonly context: TraceContext;
  end(call: FinishedCall): void;
}

/** Traces the calls of an endpoint. */
export interface CallTracer {
  begin(call: StartedCall): CallSpan;
}

/** Parts that take note of the calls of an endpoint. */
export interface CallObservers {
  /** Records each call; see {@link CallRecorder}. */
  recorder?: CallRecorder;
  tracer?: CallTracer;
  /** Counts a call that is over. */
  count?: (call: FinishedCall) => void;
}

/** Notes of the call that runs now. Connections and timers that it starts keep them, so they are small. */
const current = new AsyncLocalStorage<CallNotes | undefined>();

/** Adds facts to the record of the call that runs now. Does nothing outside of a recorded call. */
export function noteCall(added: CallNotes): void {
  const notes = current.getStore();
  if (notes) Object.assign(notes, added);
}

/** Adds the generation of an upstream token to the record of the call that runs now. */
export function noteGeneration(upstream: string, generation: number): void {
  const notes = current.getStore();
  if (notes) notes.generations = { ...notes.generations, [upstream]: generation };
}

/**
 * Returns the function that notes when a request of the call that runs now is sent to its backend.
 * @returns undefined if the request is of no recorded call
 */
export function sentNote({ method = '' }: Message): (() => void) | undefined {
  const notes = recordedMethods.has(method) ? current.getStore() : undefined;
  return (
    notes &&
    (() => {
      notes.sentAtMs ??= performance.now();
    })
  );
}

/** Runs a request of Gatehouse itself, so that the call which caused it gets no notes of it. */
export function withoutNotes<T>(work: () => T): T {
  return current.run(undefined, work);
}

/** A call without a response. */
interface OpenCall {
  request: RequestMessage;
  notes: CallNotes;
  /** Its trace; undefined without one. */
  traced: TracedRequest | undefined;
  span: CallSpan | undefined;
}

const notRecorded: JsonRpcError = {
  code: -32000,
  message:
    'The call ran, but it could not be recorded, and this server returns no result without a record. Look whether it had its effect before you send it again.',
  data: { reason: 'call_not_recorded' },
};

/** The refusal while calls must be recorded and cannot be. */
export const ledgerUnavailable: Refusal = { reason: 'ledger_unavailable', headers: { 'Retry-After': '5' } };

/** Returns true if calls of a method are recorded. */
export function isRecordedMethod(method: string): boolean {
  return recordedMethods.has(method);
}

/** The calls of one body, until they are over. Each is observed once. */
export class RecordedCalls implements ExchangeCalls {
  readonly #observers: CallObservers;
  readonly #exchange: Exchange;
  readonly #transport: FinishedCall['transport'];
  readonly #open = new Map<RequestId, OpenCall>();
  readonly #at = Date.now();
  readonly #started = performance.now();
  readonly #isSingle: boolean;

  /** @param traces the trace contexts of the messages of the body */
  constructor(
    observers: CallObservers,
    transport: FinishedCall['transport'],
    exchange: Exchange,
    { messages }: Posted,
    traces: ReadonlyMap<Message, TraceContext>,
  ) {
    this.#observers = observers;
    this.#transport = transport;
    this.#exchange = exchange;
    for (const request of messages.requests)
      if (isRecordedMethod(request.method)) this.#begin(request, traces.get(request));
    this.#isSingle = this.#open.size === 1;
  }

  /** Runs the handling of a body. If it has one call, the parts behind can add notes to it. */
  run<T>(work: () => T): T {
    const [only] = this.#open.values();
    return only && this.#isSingle ? runCall(only, work) : work();
  }

  runMessage(message: Message, work: () => void): void {
    const call = message.id === undefined ? undefined : this.#open.get(message.id);
    if (call && !this.#isSingle) runCall(call, work);
    else work();
  }

  answer(message: Message, send: (message: Message) => void, refusal?: string): void {
    const { id, result, error } = message as Message & { result?: unknown; error?: JsonRpcError };
    const isLate = !this.#observers.recorder?.isRequired;
    if (isLate) send(message);
    const stored = this.#finish(id, endingOf(result, error, refusal), textLength(result ?? error));
    if (isLate) return;
    const failed = { jsonrpc: '2.0', id, error: notRecorded } as Message;
    if (stored) void stored.then((isStored) => send(isStored ? message : failed));
    else send(message);
  }

  async answerAll(messages: readonly Message[]): Promise<Message[]> {
    const answered = messages.map(
      (message) => new Promise<Message>((resolve) => this.answer(message, resolve)),
    );
    this.cancelRest();
    return Promise.all(answered);
  }

  cancel(id: RequestId): void {
    void this.#finish(id, { kind: 'cancelled' }, 0);
  }

  cancelRest(): void {
    for (const id of this.#open.keys()) this.cancel(id);
  }

  failRest(error: JsonRpcError): void {
    void this.#finishRest(endingOf(undefined, error, undefined));
  }

  /** The body was refused. @returns resolves when the refusal may be sent */
  async refuse({ reason }: Refusal, code: number): Promise<void> {
    await this.#finishRest({ kind: 'refused', reason, code });
  }

  /** The handling of the body failed. @returns resolves when the response may be sent */
  async fail(): Promise<void> {
    await this.#finishRest({ kind: 'error', error: internalError });
  }

  /** Forgets the calls: another node takes the body and records it, or nobody can. */
  discard(): void {
    this.#open.clear();
  }

  /** The trace of the body, if it has one call. */
  get trace(): TracedRequest | undefined {
    const [only, ...others] = this.#open.values();
    return others.length === 0 ? only?.traced : undefined;
  }

  #begin(request: RequestMessage, parent: TraceContext | undefined): void {
    const { id, method, params } = request;
    const span = this.#observers.tracer?.begin({
      ...{ id, method, parent },
      target: targetOf(method, params),
      authInfo: this.#exchange.authInfo,
      transport: this.#transport,
      revision: this.#revision,
    });
    if (span) setParams(request, withTrace(request, span.context));
    const { traceId, spanId } = span?.context ?? parent ?? {};
    const traced = traceId && spanId ? { traceId, spanId, isOver: false } : undefined;
    this.#open.set(id, { request, notes: {}, traced, span });
  }

  get #revision(): string | undefined {
    const version = headerOf(this.#exchange.headers, 'mcp-protocol-version');
    return version === undefined ? undefined : String(version);
  }

  async #finishRest(ending: CallEnding): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#finish(id, ending, 0)));
  }

  #finish(id: RequestId | undefined, ending: CallEnding, bytesOut: number): Promise<boolean> | undefined {
    const call = id === undefined ? undefined : this.#open.get(id);
    if (id === undefined || !call) return undefined;
    this.#open.delete(id);
    const { request, notes, traced, span } = call;
    const { method, params } = request;
    const { authInfo, bytes = 0, requestId = '' } = this.#exchange;
    const finished: FinishedCall = {
      at: this.#at,
      ms: performance.now() - this.#started,
      waitMs: notes.sentAtMs === undefined ? undefined : notes.sentAtMs - this.#started,
      authInfo,
      transport: this.#transport,
      revision: this.#revision,
      method,
      target: targetOf(method, params),
      arguments: isRecord(params?.arguments) ? params.arguments : undefined,
      bytesIn: bytes,
      bytesOut,
      requestId,
      traceId: traced?.traceId,
      notes,
      ending: notes.refusal === undefined ? ending : refusedBy(notes.refusal, ending),
    };
    if (traced) traced.isOver = true;
    span?.end(finished);
    this.#observers.count?.(finished);
    return this.#observers.recorder?.record(finished);
  }
}

/** Runs the handling of a call, so that notes and log lines belong to it. */
function runCall<T>({ notes, traced }: OpenCall, work: () => T): T {
  return current.run(notes, traced ? () => runTraced(traced, work) : work);
}

function refusedBy(reason: string, ending: CallEnding): CallEnding {
  return { kind: 'refused', reason, ...('error' in ending && { code: ending.error.code }) };
}

function endingOf(result: unknown, error: JsonRpcError | undefined, refusal: string | undefined): CallEnding {
  if (refusal !== undefined) return { kind: 'refused', reason: refusal, ...(error && { code: error.code }) };
  if (error) {
    const reason = ownReasonOf(error);
    return { kind: error === callTimedOut ? 'timed_out' : 'error', error, ...(reason && { reason }) };
  }
  const { isError, resultType } = Object(result) as Record<string, unknown>;
  return { kind: isError === true ? 'tool_error' : resultType === 'input_required' ? resultType : 'result' };
}

function targetOf(method: string, params: RequestMessage['params']): string | undefined {
  const member = recordedMethods.get(method);
  const named = member && params?.[member];
  const { name, uri } = isRecord(named) ? named : { name: named, uri: undefined };
  const target = name ?? uri;
  return typeof target === 'string' ? target : undefined;
}

/**
 * Reads the traces of a body, and takes note of its calls, also if they are refused.
 * @param serve serves the body behind
 */
export function observeCalls<Body extends Posted | undefined>(
  observers: CallObservers,
  transport: FinishedCall['transport'],
  serve: ServePosted<Body>,
): ServePosted<Body> {
  const isObserved = Object.values(observers).some((observer) => observer !== undefined);
  const { recorder } = observers;
  return async (exchange, posted) => {
    if (!posted) return serve(exchange, posted);
    const { list, requests } = posted.messages;
    const traces = settleTraces(exchange.headers, list);
    // Log lines belong to the traces of calls, also if nobody else takes note of them.
    const found =
      (isObserved || traces.size > 0) && requests.some(({ method }) => isRecordedMethod(method))
        ? new RecordedCalls(observers, transport, exchange, posted, traces)
        : undefined;
    const [first] = traces.values();
    const trace = found?.trace ?? (first && { traceId: first.traceId, spanId: first.spanId, isOver: false });
    if (trace) exchange.onTrace?.(trace);
    if (!found) {
      if (!trace) return serve(exchange, posted);
      return runTraced(trace, () => serve(exchange, posted)).finally(() => {
        trace.isOver = true;
      });
    }
    if (recorder && !recorder.isReady()) {
      // Not awaited: it is known that the record fails now.
      void found.refuse(ledgerUnavailable, codeOfRefusal(ledgerUnavailable));
      return ledgerUnavailable;
    }
    exchange.calls = found;
    try {
      const refusal = await found.run(() => serve(exchange, posted));
      if (refusal) await found.refuse(refusal, codeOfRefusal(refusal));
      return refusal;
    } catch (error) {
      if (error instanceof ServedElsewhere) found.discard();
      else await found.fail();
      throw error;
    }
  };
}

/** Returns the trace context that a message carries in `_meta` (MCP 2026-07-28 "OpenTelemetry trace context"). */
export function traceOf({ params }: Message): TraceContext | undefined {
  const { traceparent, tracestate } = Object(params?._meta) as Record<string, unknown>;
  return traceparent === undefined ? undefined : parseTraceContext(traceparent, tracestate);
}

/** Returns a message with another trace context. */
export function withTrace<M extends Message>(message: M, { traceparent, tracestate }: TraceContext): M {
  const before = message.params?._meta;
  const { tracestate: _before, ...meta } = isRecord(before) ? before : {};
  const _meta = { ...meta, traceparent, ...(tracestate && { tracestate }) };
  return { ...message, params: { ...message.params, _meta } };
}

/**
 * Reads the trace context of each message of a body, from its `_meta` or else from the HTTP headers. Changes the
 * messages: each request then carries its context in `_meta`, and no message carries a malformed one (C1-08).
 * The params of `initialize` are stored with its session, so a header adds nothing to them, nor to params or a `_meta`
 * that are no objects: those stay as they are, and are refused behind.
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
    const isReadable = isAbsentOrRecord(params) && isAbsentOrRecord(params?._meta);
    const meta = isReadable ? (params?._meta as Record<string, unknown> | undefined) : undefined;
    const isMarked = meta !== undefined && ('traceparent' in meta || 'tracestate' in meta);
    if (method === undefined || !isReadable || (!isMarked && !ofHttp)) continue;
    const own = isMarked ? traceOf(message) : undefined;
    const trace = own ?? ofHttp;
    if (trace) traces.set(message, trace);
    const told = own ?? (id === undefined || method === 'initialize' ? undefined : ofHttp);
    if (told) setParams(message, withTrace(message, told));
    else if (isMarked) setParams(message, withoutTrace(message, meta));
  }
  return traces;
}

/** Sets the params of a message to those of its copy. Guards have read the message, so it stays the same object. */
export function setParams(message: Message, { params }: Message): void {
  if (params) message.params = params;
}

function isAbsentOrRecord(value: unknown): boolean {
  return value === undefined || isRecord(value);
}

function withoutTrace(message: Message, meta: Record<string, unknown>): Message {
  const { traceparent: _parent, tracestate: _state, ...others } = meta;
  return { ...message, params: { ...message.params, _meta: others } };
}
