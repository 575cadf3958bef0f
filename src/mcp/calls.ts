import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../oauth/auth-info.ts';
import { headerOf } from './http/dispatch.ts';
import type { Exchange, ExchangeCalls, Posted } from './http/exchange.ts';
import { textLength } from './http/node-reply.ts';
import type { Refusal } from './http/refusal.ts';
import { isRecord, type JsonRpcError, type Message, type RequestMessage } from './protocol.ts';
import { internalError } from './sdk/json-rpc-errors.ts';

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
  /** Name of the upstream or stored credential that the backend got. */
  credential?: string;
  /** Hash of the definition of the tool. */
  definition?: string;
  isCached?: boolean;
  /** True if the request was sent to the backend more than once. */
  isRetried?: boolean;
  /** Reason why a policy of the route rejected the call. */
  refusal?: string;
}

/** A call that is over. */
export interface FinishedCall {
  /** Arrival, epoch milliseconds. */
  at: number;
  /** Milliseconds from arrival to response. */
  ms: number;
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
  notes: CallNotes;
  ending: CallEnding;
}

/** The end of a call. */
export type CallEnding =
  | { kind: 'result' | 'tool_error' | 'input_required' | 'cancelled' }
  | { kind: 'refused'; reason: string; code?: number }
  | { kind: 'error'; error: JsonRpcError };

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

/** Notes of the call that runs now. Connections and timers that it starts keep them, so they are small. */
const current = new AsyncLocalStorage<CallNotes>();

/** Adds facts to the record of the call that runs now. Does nothing outside of a recorded call. */
export function noteCall(added: CallNotes): void {
  const notes = current.getStore();
  if (notes) Object.assign(notes, added);
}

/** A call without a response. */
interface OpenCall {
  request: RequestMessage;
  notes: CallNotes;
}

const notRecorded: JsonRpcError = {
  code: -32000,
  message:
    'The call ran, but it could not be recorded, and this server returns no result without a record. Look whether it had its effect before you send it again.',
  data: { reason: 'call_not_recorded' },
};

/** The refusal while calls must be recorded and cannot be. */
export const ledgerUnavailable: Refusal = { reason: 'ledger_unavailable', headers: { 'Retry-After': '5' } };

/** The calls of one body, until they are over. Each is recorded once. */
export class RecordedCalls implements ExchangeCalls {
  readonly #recorder: CallRecorder;
  readonly #exchange: Exchange;
  readonly #transport: FinishedCall['transport'];
  readonly #open = new Map<RequestId, OpenCall>();
  readonly #at = Date.now();
  readonly #started = performance.now();

  constructor(
    recorder: CallRecorder,
    transport: FinishedCall['transport'],
    exchange: Exchange,
    { messages }: Posted,
  ) {
    this.#recorder = recorder;
    this.#transport = transport;
    this.#exchange = exchange;
    for (const request of messages.requests)
      if (recordedMethods.has(request.method)) this.#open.set(request.id, { request, notes: {} });
  }

  /** True if the body has calls that are recorded. */
  get hasCalls(): boolean {
    return this.#open.size > 0;
  }

  /** Runs the handling of a body. If it has one call, the parts behind can add notes to it. */
  run<T>(work: () => T): T {
    const [only, ...others] = this.#open.values();
    return only && others.length === 0 ? current.run(only.notes, work) : work();
  }

  runMessage(message: Message, work: () => void): void {
    const call = message.id === undefined ? undefined : this.#open.get(message.id);
    if (call && this.#open.size > 1) current.run(call.notes, work);
    else work();
  }

  answer(message: Message, send: (message: Message) => void, refusal?: string): void {
    const { id, result, error } = message as Message & { result?: unknown; error?: JsonRpcError };
    const isLate = !this.#recorder.isRequired;
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

  /** The body was refused. */
  refuse({ reason }: Refusal, code: number): void {
    for (const id of this.#open.keys()) void this.#finish(id, { kind: 'refused', reason, code }, 0);
  }

  /** The handling of the body failed. */
  fail(): void {
    for (const id of this.#open.keys()) void this.#finish(id, { kind: 'error', error: internalError }, 0);
  }

  /** Another node takes the body, and records it. */
  discard(): void {
    this.#open.clear();
  }

  #finish(id: RequestId | undefined, ending: CallEnding, bytesOut: number): Promise<boolean> | undefined {
    const call = id === undefined ? undefined : this.#open.get(id);
    if (id === undefined || !call) return undefined;
    this.#open.delete(id);
    const { method, params } = call.request;
    const { authInfo, headers, bytes = 0, requestId = '' } = this.#exchange;
    const version = headerOf(headers, 'mcp-protocol-version');
    return this.#recorder.record({
      at: this.#at,
      ms: performance.now() - this.#started,
      authInfo,
      transport: this.#transport,
      revision: version === undefined ? undefined : String(version),
      method,
      target: targetOf(method, params),
      arguments: isRecord(params?.arguments) ? params.arguments : undefined,
      bytesIn: bytes,
      bytesOut,
      requestId,
      notes: call.notes,
      ending: call.notes.refusal === undefined ? ending : refusedBy(call.notes.refusal, ending),
    });
  }
}

function refusedBy(reason: string, ending: CallEnding): CallEnding {
  return { kind: 'refused', reason, ...(ending.kind === 'error' && { code: ending.error.code }) };
}

function endingOf(result: unknown, error: JsonRpcError | undefined, refusal: string | undefined): CallEnding {
  if (refusal !== undefined) return { kind: 'refused', reason: refusal, ...(error && { code: error.code }) };
  if (error) return { kind: 'error', error };
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
