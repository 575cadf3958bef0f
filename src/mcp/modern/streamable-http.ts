import { createHash } from 'node:crypto';
import { canonicalJson } from '../../collections/exact-json.ts';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import {
  type AccessWatch,
  type EventStream,
  type Exchange,
  type Posted,
  type Reply,
  toWebRequest,
} from '../http/exchange.ts';
import { type CallLimit, Deadlines, type StreamLimit } from '../http/limits.ts';
import type { Refusal } from '../http/refusal.ts';
import { type Peers, ServedElsewhere } from '../peers.ts';
import {
  type Answer,
  type Backend,
  type Call,
  type Caller,
  type ChangeRelay,
  type Conversations,
  type Message,
  mayHear,
  type RequestMessage,
  type Seal,
  type ServerSource,
} from '../protocol.ts';
import { messagesOf } from '../reading/messages.ts';
import {
  isOfItsKind,
  readInputRequests,
  type ServedMethods,
  withServedCapabilities,
} from '../reading/methods.ts';
import type { ScopeGate } from '../scopes/scope-gate.ts';
import type { DeclareExtensions } from '../sdk/conversation-filters.ts';
import { heldBytesError, methodNotServed, resultNotServed } from '../sdk/json-rpc-errors.ts';
import { awaitLinks, inputOfLinks } from '../upstreams/link-prompts.ts';
import { createBackends } from './backends.ts';
import { missingFor } from './client-inputs.ts';
import { checkEnvelope, hasRequiredMeta, namesModernRevision } from './envelope.ts';
import { headerMismatch, refusalAnswer, sendAnswer, stateNotValid } from './error-answers.ts';
import { readToolList, type ToolList } from './internal-call.ts';
import { createLegacyBridge } from './legacy-bridge.ts';
import { withModernCode } from './legacy-results.ts';
import { checkMirroredHeaders, createParameterCheck } from './mirrored-headers.ts';
import { createListeners, listenMethod } from './subscriptions.ts';

/** Streamable HTTP of 2026-07-28: each request by itself, without sessions. */
export interface StreamableHttp2026 {
  /** Serves one POST. */
  serve(exchange: Exchange, posted: Posted): Promise<Refusal | undefined>;
  /** Reads the server's list of tools, as a caller sees it. */
  listTools(authInfo: AuthInfo): Promise<ToolList>;
  /** Ends the streams of subscriptions, each with its result. */
  endListening(): void;
  /** Ends all streams, each with its result if it has one, and the servers. */
  close(): Promise<void>;
}

/** Options of Streamable HTTP of 2026-07-28. */
export interface StreamableHttp2026Options {
  source: ServerSource;
  /** Serves clients of this revision if the server is of an older era. */
  conversations: Conversations;
  declareExtensions: DeclareExtensions;
  served: ServedMethods;
  /** The endpoint's public URL. */
  url: URL;
  /** Checks the scopes of calls, and filters lists by scopes. */
  gate: Pick<ScopeGate, 'check' | 'filterResult'>;
  /** Calls in flight, over all transports. */
  calls: CallLimit;
  accessWatch: AccessWatch;
  seal: Seal;
  /** The other processes that serve the installation; without them this process is the only one. */
  peers?: Pick<Peers, 'id' | 'isAlive'>;
  /** Streams that belong to no session, over all transports. */
  streams: StreamLimit;
  /** Carries what listeners hear to other nodes; absent if there are none. */
  relay?: ChangeRelay | undefined;
  /** Time without a response after which a stream is opened, in milliseconds. */
  streamAfterMs: number;
  /** Epoch seconds. */
  now: () => number;
  logger: Logger;
}

/**
 * Creates the transport of 2026-07-28.
 * @see MCP 2026-07-28 transports "Streamable HTTP" (B5-01 to B5-14)
 */
export function createStreamableHttp2026(options: StreamableHttp2026Options): StreamableHttp2026 {
  const { url, gate, calls, streams, streamAfterMs, accessWatch, declareExtensions, served, now } = options;
  const { peers } = options;
  const listeners = createListeners({ streams, accessWatch, relay: options.relay });
  const states = createRequestStates({ seal: options.seal, url, processId: peers?.id, now });
  const older = createLegacyBridge({ ...options, publish: listeners.publish });

  const callOptions: HttpCallOptions = {
    late: new Deadlines(streamAfterMs),
    accessWatch,
    finish: (given, call) => {
      const { request, caller } = call;
      const { authInfo } = caller;
      const answer = inputOfLinks(given, call);
      if (!answer.result) return { ...answer, error: withModernCode(answer.error, request) };
      if (!served.isKnownResult(answer.result, 'modern')) return { status: 200, error: resultNotServed };
      if (answer.result.resultType === 'input_required') {
        const lacking = missingFor(call, Object.values(readInputRequests(answer.result.inputRequests) ?? {}));
        if (lacking) return lacking;
      }
      const told =
        request.method === 'server/discover'
          ? declareExtensions(answer.result)
          : gate.filterResult(request.method, answer.result, authInfo, answer.by);
      return { ...answer, result: states.seal(told, request, authInfo, answer.isHeldHere) };
    },
    passes: (method) => served.passes(method, 'server', 'modern'),
    ended: ({ caller }) => calls.end(principalKey(caller.authInfo)),
  };

  const checkParameters = createParameterCheck();

  /** Fault of a request, found before a server sees it. */
  const checkRequest = async (
    backend: Backend,
    request: RequestMessage,
    caller: Caller,
  ): Promise<Answer | undefined> => {
    const mismatch =
      checkMirroredHeaders(caller.headers, request) ?? (await checkParameters(backend, request, caller));
    return mismatch && headerMismatch(mismatch);
  };

  const backends = createBackends({
    ...options,
    publish: listeners.publish,
    older,
    async check(backend, { request, caller }) {
      const wrong = await checkRequest(backend, request, caller);
      if (wrong || backend.checksScopesItself) return wrong;
      const refusal = await gate.check(messagesOf(request), caller.authInfo, backend.server);
      return refusal && refusalAnswer(refusal);
    },
  });

  const listen = async (
    backend: Backend,
    request: RequestMessage,
    { caller, reply, calls: recorded }: From,
  ): Promise<Refusal | undefined> => {
    const principal = principalKey(caller.authInfo);
    // Until its stream is open it counts as a call, because it may start a server.
    if (!calls.begin(principal)) return { reason: 'too_many_calls', id: request.id };
    const discovery = await backend.discover(caller).finally(() => calls.end(principal));
    if (reply.isClosed) return undefined;
    const answer = listeners.open({ request, caller, reply }, backend, discovery);
    if (answer) sendAnswer({ reply, calls: recorded }, request.id, answer);
    return undefined;
  };

  const call = (backend: Backend, asked: RequestMessage, from: From): Refusal | undefined => {
    const { caller, reply } = from;
    const request = states.open(withServedCapabilities(asked, served), caller.authInfo);
    if (!request) sendAnswer(from, asked.id, stateNotValid);
    if (reply.isClosed) from.calls?.cancelRest();
    if (!request || reply.isClosed) return undefined;
    if (!calls.begin(principalKey(caller.authInfo))) return { reason: 'too_many_calls', id: request.id };
    const awaited = awaitLinks({ request, caller });
    const httpCall = new HttpCall(request, { ...from, caller: awaited }, callOptions);
    httpCall.cancelWith(backend.begin(httpCall));
    return undefined;
  };

  let isClosing = false;
  return {
    async serve(exchange, posted) {
      if (isClosing) return { reason: 'closing' };
      const { authInfo, headers, reply } = exchange;
      const { isBatch, list, requests } = posted.messages;
      const [message] = list;
      const [request] = requests;
      const holder = peers && request && states.holderOf(request, authInfo);
      if (holder !== undefined && holder !== peers?.id && (await peers?.isAlive(holder)))
        throw new ServedElsewhere(holder);
      const caller: Caller = { authInfo, headers, request: () => toWebRequest(exchange, url) };
      const isCall = request !== undefined && request.method !== listenMethod;
      const backend = await (isCall ? backends.currentSoon(caller) : backends.current(caller));

      const isPlain =
        isCall && !isBatch && namesModernRevision(headers, request) && isLeftTo(backend, request);
      const method = message?.method;
      const isServed =
        !message ||
        method === undefined ||
        (served.passes(method, 'client', 'modern') && isOfItsKind(message));
      const wrong =
        (isPlain ? undefined : checkEnvelope(headers, posted)) ??
        (isServed || !request ? undefined : { status: 404, error: methodNotServed(request.method) }) ??
        (request && (await checkRequest(backend, request, caller)));
      if (wrong) sendAnswer(exchange, request?.id, wrong);
      if (reply.isClosed) exchange.calls?.cancelRest();
      if (wrong || reply.isClosed) return undefined;

      if (!isServed) {
        reply.empty(202);
        return undefined;
      }

      // Scopes declared by a server that is made for this request are checked once it is made.
      if (!backend.checksScopesItself || request?.method === listenMethod) {
        const refusal = await gate.check(posted.messages, authInfo, backend.server);
        if (refusal) return refusal;
      }
      const from: From = { caller, reply, calls: exchange.calls };
      if (request?.method === listenMethod) return listen(backend, request, from);
      if (request) return call(backend, request, from);
      if (message) {
        backend.notify(message, caller);
        reply.empty(202);
      }
      return undefined;
    },
    async listTools(authInfo) {
      const caller: Caller = { authInfo, headers: {}, request: () => new Request(url) };
      const { begin } = await backends.current(caller);
      return readToolList(begin, caller);
    },
    endListening: listeners.close,
    async close() {
      isClosing = true;
      listeners.close();
      await backends.close();
    },
  };
}

/** The sender of a request, and the target of its response. */
interface From {
  caller: Caller;
  reply: Reply;
  /** See `Exchange.calls`. */
  calls?: Exchange['calls'];
}

/** Returns true if the backend itself checks the request's `_meta`. */
function isLeftTo({ checksEnvelope }: Backend, request: RequestMessage): boolean {
  return checksEnvelope === 'all' || (checksEnvelope === 'values' && hasRequiredMeta(request));
}

/** Seals `requestState` of servers, so that clients cannot read, change or reuse it. */
export interface RequestStates {
  /**
   * Opens the state a request carries.
   * @returns the request in the form for the server; undefined if the state was not issued for this request
   */
  open(request: RequestMessage, authInfo: AuthInfo): RequestMessage | undefined;
  /** Returns the process that holds what the state of a request refers to; undefined if no process in particular does. */
  holderOf(request: RequestMessage, authInfo: AuthInfo): string | undefined;
  /**
   * Seals the state a result carries, for a retry of the same request.
   * @param isHeldHere true if this process holds what the state refers to
   */
  seal(
    result: Record<string, unknown>,
    request: RequestMessage,
    authInfo: AuthInfo,
    isHeldHere?: boolean,
  ): Record<string, unknown>;
}

/** Maximum time for a client to gather the requested input. */
const lifeSeconds = 600;

/** Options of the request states. */
export interface RequestStatesOptions {
  seal: Seal;
  /** The endpoint's public URL: other endpoints of the installation reject its states. */
  url: URL;
  /** Id of this process, if several serve the installation. */
  processId?: string | undefined;
  /** Epoch seconds. */
  now: () => number;
}

/** A request state as it is sealed. */
interface SealedState {
  /** Epoch seconds. */
  expiresAt: number;
  /** The server's own state. */
  state: string;
  /** The process that holds what the state refers to. */
  holder?: string;
}

/**
 * Creates the sealing of request states. Each is bound to the endpoint, the principal, the grant, the method, the
 * parameters and a time.
 * @see MCP 2026-07-28 "Multi Round-Trip Requests" (C4-03, T-129)
 */
export function createRequestStates({ seal, url, processId, now }: RequestStatesOptions): RequestStates {
  const contextOf = (request: RequestMessage, authInfo: AuthInfo): string =>
    JSON.stringify([
      'requestState',
      url.href,
      principalKey(authInfo),
      authInfo.grantId ?? null,
      ...digestOf(request),
    ]);

  /** Reads the state of a request; undefined if it has none that is valid. */
  const read = (request: RequestMessage, authInfo: AuthInfo): SealedState | undefined => {
    const { requestState } = request.params ?? {};
    if (typeof requestState !== 'string') return undefined;
    const text = seal.open(requestState, contextOf(request, authInfo));
    const sealed = text === undefined ? undefined : (JSON.parse(text) as SealedState);
    return sealed && sealed.expiresAt >= now() ? sealed : undefined;
  };

  return {
    open(request, authInfo) {
      if (request.params?.requestState === undefined) return request;
      const sealed = read(request, authInfo);
      return sealed && { ...request, params: { ...request.params, requestState: sealed.state } };
    },
    holderOf: (request, authInfo) => read(request, authInfo)?.holder,
    seal(result, request, authInfo, isHeldHere = false) {
      const { requestState: state } = result;
      if (result.resultType !== 'input_required' || state === undefined) return result;
      const holder = isHeldHere && processId !== undefined ? { holder: processId } : {};
      const text = JSON.stringify({ expiresAt: now() + lifeSeconds, state, ...holder });
      return { ...result, requestState: seal.seal(text, contextOf(request, authInfo)) };
    },
  };
}

/** Method and digest of the parameters. */
function digestOf({ method, params = {} }: RequestMessage): string[] {
  const { _meta, requestState, inputResponses, ...asked } = params;
  const digest = createHash('sha256').update(canonicalJson(asked)).digest('base64url');
  return [method, digest];
}

/** Options of calls over HTTP. */
export interface HttpCallOptions {
  /** Opens a stream for a call without a response, so that keep-alive comments are sent. */
  late: Deadlines;
  accessWatch?: AccessWatch;
  /** Returns true if notifications of a method may be sent to clients. */
  passes(method: string): boolean;
  /** Changes the response before it is sent. */
  finish(answer: Answer, call: Call): Answer;
  /** Called once, when the call was answered or cancelled. */
  ended(call: Call): void;
}

/**
 * One call over HTTP. Its response is JSON, or a stream if the server sends a message before the response. A client that
 * disconnects cancels it.
 * @see MCP 2026-07-28 transports "Sending Messages to the Server" (B5-13, B5-14)
 */
export class HttpCall implements Call {
  readonly request: RequestMessage;
  readonly caller: Caller;
  readonly #reply: Reply;
  readonly #calls: Exchange['calls'];
  readonly #options: HttpCallOptions;
  readonly #forgetLate: () => void;
  #stream: EventStream | undefined;
  #unwatch: (() => void) | undefined;
  #cancel: (() => void) | undefined;
  #hasEnded = false;

  constructor(request: RequestMessage, { caller, reply, calls }: From, options: HttpCallOptions) {
    this.request = request;
    this.caller = caller;
    this.#reply = reply;
    this.#calls = calls;
    this.#options = options;
    this.#forgetLate = options.late.set(() => this.#openStream());
  }

  /**
   * Sets the function that cancels the call when the client disconnects; called at once if it has disconnected.
   * @param cancel see `Backend.begin`
   */
  cancelWith(cancel: () => void): void {
    if (this.#hasEnded) return;
    this.#cancel = cancel;
    this.#reply.onClose(() => this.#abandon());
  }

  notify(notification: Message): void {
    if (this.#hasEnded || !this.#options.passes(notification.method ?? '')) return;
    if (!mayHear(this.request, notification)) return;
    this.#openStream()?.send(JSON.stringify(notification));
  }

  answer(answer: Answer): void {
    if (this.#hasEnded) return;
    this.#end();
    const { status, headers, result, error, refusal } = this.#options.finish(answer, this);
    const { id } = this.request;
    const message: Message = { jsonrpc: '2.0', id, ...(error ? { error } : { result }) };
    const send = (told: Message): void => this.#send(status, told, headers);
    if (this.#calls) this.#calls.answer(message, send, refusal);
    else send(message);
  }

  #send(status: number, message: Message, headers: Answer['headers']): void {
    if (this.#stream) {
      const instead = heldBytesError(message);
      const release = this.#stream.park(message);
      const told = release ? message : instead;
      release?.();
      this.#stream.send(JSON.stringify(told), undefined, undefined, JSON.stringify(instead));
      this.#stream.end();
    } else if (!this.#reply.isClosed) this.#reply.json(status, message, headers);
  }

  #openStream(): EventStream | undefined {
    if (this.#stream || this.#hasEnded || this.#reply.isClosed) return this.#stream;
    this.#stream = this.#reply.stream();
    this.#unwatch = this.#options.accessWatch?.watch(this.caller.authInfo, () => this.#abandon());
    return this.#stream;
  }

  #abandon(): void {
    if (this.#hasEnded) return;
    this.#end();
    this.#calls?.cancel(this.request.id);
    this.#cancel?.();
    this.#stream?.end();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#forgetLate();
    this.#unwatch?.();
    this.#options.ended(this);
  }
}
