import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import type {
  InitializeParams,
  JsonRpcError,
  McpLike,
  Message,
  RequestMessage,
  Sender,
} from '../protocol.ts';
import { inputMethods } from '../reading/methods.ts';
import { MessageContext } from './caller.ts';
import { withLegacyCode } from './json-rpc-errors.ts';
import { type Participant, type PendingCall, type ResponseMessage, ServerRequests } from './participants.ts';
import { type CheckSerializable, createSerializableCheck, summarizeRequest } from './serializable.ts';

/** Options of a transport to one server. */
export interface MultiplexedTransportOptions {
  /** The only participant, if the server serves one. */
  sole?: Participant;
  /**
   * True if the server runs in another process. Such a server does not say for which call it sends a message: while one
   * call runs, the message is for that call.
   */
  isElsewhere?: boolean;
  /** True if its participants belong to many accounts: a message that names no call is then for nobody (T-158). */
  isForEveryone?: boolean;
  /** Takes notifications about the tools, prompts and resources of the server, which belong to no call. */
  announce(notification: Message): void;
  /** Called once, when the server closed. */
  onClose(): void;
  logger: Logger;
}

/** Notifications that belong to no call, and go to all participants whom they concern. */
const announcements = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/elicitation/complete',
]);

const closed: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The MCP server stopped before it answered. Start a new session.',
};
const nobodyToAsk: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'A client can only be asked while one of its requests runs. Send it with relatedRequestId.',
};
const notOfRevision: JsonRpcError = {
  code: errorCodes.invalidParams,
  message:
    'Invalid params: requestState and inputResponses are of 2026-07-28. Send the request without them.',
};
const gone: JsonRpcError = { code: errorCodes.internalError, message: 'The client ended the conversation.' };

/**
 * A transport of the SDK that carries any number of conversations with one server. The server sees ids and progress
 * tokens that are unique on this transport, whatever clients choose; each client sees its own, so that no message can
 * reach another client (T-127, T-142). If the server names no request with a message, the asynchronous context in which
 * it is sent names the request, as long as that request runs.
 */
export class MultiplexedTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;

  /** Revisions that the server declares; undefined if it declares none. */
  supportedVersions: readonly string[] | undefined;
  isClosed = false;

  readonly #options: MultiplexedTransportOptions;
  /** Undefined if the server runs in another process: its messages arrive as JSON. */
  readonly #checkWritable: CheckSerializable | undefined;
  readonly #calls = new InFlightMap<unknown, PendingCall>();
  readonly #asked = new ServerRequests();
  readonly #origin = new AsyncLocalStorage<PendingCall>();
  #lastId: number;

  constructor(options: MultiplexedTransportOptions) {
    this.#options = options;
    this.#checkWritable = options.isElsewhere ? undefined : createSerializableCheck(options.logger);
    // Some bridges send the responses of one process to everybody. Random ids keep transports from taking those of others (T-158).
    this.#lastId = options.isElsewhere ? randomInt(2 ** 47) : 0;
  }

  /** Number of requests of either side without a response. */
  get pending(): number {
    return this.#calls.size + this.#asked.size;
  }

  /** The session of the participant that the server is serving at this moment. */
  get sessionId(): string | undefined {
    return (this.#origin.getStore()?.participant ?? this.#options.sole)?.sessionId;
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.supportedVersions = versions;
  }

  /**
   * Connects a server and sends it `initialize`.
   * @throws errors of its `connect`
   */
  async open(server: McpLike, params: InitializeParams, sender: Sender): Promise<ResponseMessage> {
    await server.connect(this);
    return new Promise((resolve) => {
      const message: RequestMessage = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
      this.call(undefined, message, sender, resolve);
    });
  }

  /**
   * Sends the server a request of a client.
   * @param onAnswer takes the response before the participant does
   */
  call(
    participant: Participant | undefined,
    message: RequestMessage,
    sender: Sender,
    onAnswer?: (answer: ResponseMessage) => void,
  ): void {
    const { id, method, params } = message;
    const meta = params?._meta as { progressToken?: unknown } | undefined;
    const progressToken = meta?.progressToken;
    const serverId = ++this.#lastId;
    const call: PendingCall = {
      participant,
      id,
      progressToken,
      onAnswer,
      principal: sender.authInfo && principalKey(sender.authInfo),
      asked: summarizeRequest(message),
      serverId,
      isRunning: true,
    };
    this.#calls.set(serverId, call);
    participant?.calls.set(serverId, call);
    if (this.isClosed) {
      this.#answer(call, { jsonrpc: '2.0', error: closed });
      return;
    }

    // A server that also speaks 2026-07-28 would trust this as a state that Gatehouse has opened (T-129, T-133).
    if (participant && params && ('requestState' in params || 'inputResponses' in params)) {
      queueMicrotask(() => call.isRunning && this.#answer(call, { jsonrpc: '2.0', error: notOfRevision }));
      return;
    }

    const request: RequestMessage = { jsonrpc: '2.0', id: serverId, method };
    if (params && progressToken !== undefined)
      request.params = { ...params, _meta: { ...meta, progressToken: serverId } };
    else if (params) request.params = params;
    this.#deliver(request, call, sender);
  }

  /** Sends the server a notification of a client. Cancellations and progress count only for the client's own requests (T-141). */
  notify(participant: Participant | undefined, message: Message, sender: Sender): void {
    if (message.method === 'notifications/cancelled') {
      this.#cancelOwn(participant, message, sender);
      return;
    }
    const isProgress = participant && message.method === 'notifications/progress';
    const passed = isProgress ? this.#asked.progress(participant, message) : message;
    if (!passed) return;
    const origin = {
      participant,
      id: undefined,
      progressToken: undefined,
      onAnswer: undefined,
      principal: undefined,
      asked: undefined,
    };
    this.#deliver(passed, { ...origin, serverId: 0, isRunning: true }, sender);
  }

  /** Sends the server a client's response to a request of the server. An unexpected response is dropped (T-128). */
  answer(participant: Participant, message: Message): void {
    const answer = this.#asked.answer(participant, message);
    if (answer) this.onmessage?.(answer as JSONRPCMessage);
  }

  /** Cancels all running requests of a participant, and rejects the server's open requests to it. */
  release(participant: Participant, sender: Sender): void {
    for (const call of participant.calls.values())
      this.#cancel(call, 'The client ended the conversation.', sender);
    for (const id of this.#asked.forgetAll(participant)) this.#refuse(id, gone);
  }

  async start(): Promise<void> {}

  /** Takes a message of the server. */
  async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId | undefined }): Promise<void> {
    const said = message as ResponseMessage;
    const related = options?.relatedRequestId;
    if (said.method === undefined) {
      const call = this.#calls.get(said.id);
      const error = call && this.#checkWritable?.(said, call.asked);
      if (call) this.#answer(call, error ? { jsonrpc: '2.0', error } : said);
    } else {
      const error = this.#checkWritable?.(said, this.#originOf(related)?.asked);
      if (said.id === undefined) {
        if (!error) this.#spread(said, related);
      } else if (error) this.#refuse(said.id, error);
      else this.#ask(said as RequestMessage, related);
    }
  }

  /** The server closes the transport: running requests get an error. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const call of this.#calls.values()) this.#answer(call, { jsonrpc: '2.0', error: closed });
    this.onclose?.();
    this.#options.onClose();
  }

  #deliver(message: Message, origin: PendingCall, sender: Sender): void {
    const take = this.onmessage;
    if (!take || this.isClosed) return;
    const context = new MessageContext(sender);
    if (this.#options.isElsewhere) take(message as JSONRPCMessage, context);
    else this.#origin.run(origin, take, message as JSONRPCMessage, context);
  }

  #answer(call: PendingCall, answer: ResponseMessage): void {
    this.#forget(call);
    const restored = { ...answer, id: call.id } as ResponseMessage;
    if (answer.error && call.asked) restored.error = withLegacyCode(answer.error, call.asked);
    call.onAnswer?.(restored);
    call.participant?.hear(restored);
  }

  #forget(call: PendingCall): void {
    call.isRunning = false;
    this.#calls.delete(call.serverId);
    call.participant?.calls.delete(call.serverId);
  }

  #cancelOwn(participant: Participant | undefined, message: Message, sender: Sender): void {
    const { requestId, reason } = message.params ?? {};
    const call = participant?.calls.values().find(({ id }) => id === requestId);
    if (call) this.#cancel(call, reason, sender);
  }

  #cancel(call: PendingCall, reason: unknown, sender: Sender): void {
    this.#forget(call);
    const params = { requestId: call.serverId, ...(typeof reason === 'string' ? { reason } : {}) };
    this.#deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, call, sender);
  }

  /**
   * Returns the call to which a message of the server belongs: the named one, the one of the context, or the only one.
   * @param isQuestion true for a request to the client
   */
  #originOf(relatedRequestId: RequestId | undefined, isQuestion = false): PendingCall | undefined {
    if (relatedRequestId !== undefined) return this.#calls.get(relatedRequestId);
    if (this.#options.isForEveryone) return undefined;
    if (this.#options.isElsewhere) return this.#onlyCall(isQuestion);
    const origin = this.#origin.getStore();
    return origin?.isRunning ? origin : undefined;
  }

  /**
   * Returns the only running call of a client. If several calls run, a question is for those that may need input, not for
   * lists and the like. Calls whose client has an unanswered request do not count, because that client may never answer. If
   * no other call is left, it is the call that was sent last. Between calls of several clients there is no guess: a question
   * about one would reach another (T-203).
   */
  #onlyCall(isQuestion: boolean): PendingCall | undefined {
    const ofClients = this.#calls.values().filter(({ participant }) => participant !== undefined);
    const [first] = ofClients;
    if (ofClients.some(({ principal }) => principal !== first?.principal)) return undefined;
    const needingInput = isQuestion
      ? ofClients.filter(({ asked }) => inputMethods.has(asked?.method ?? ''))
      : [];
    const candidates = needingInput.length > 0 ? needingInput : ofClients;
    const [call, another] = candidates;
    if (!another) return call;
    const waiting = this.#asked.participants();
    const [free, second] = candidates.filter(
      ({ participant }) => participant && !waiting.includes(participant),
    );
    if (free) return second ? undefined : free;
    return candidates.find(({ participant }) => participant === waiting.at(-1));
  }

  #ask(request: RequestMessage, relatedRequestId: RequestId | undefined): void {
    // Gatehouse is the client of a server in another process, and answers pings itself (FA-41).
    if (this.#options.isElsewhere && request.method === 'ping') {
      queueMicrotask(() => this.onmessage?.({ jsonrpc: '2.0', id: request.id, result: {} }));
      return;
    }
    const origin = this.#originOf(relatedRequestId, true);
    const participant =
      relatedRequestId === undefined ? (origin?.participant ?? this.#options.sole) : origin?.participant;
    const refusal = participant ? participant.checkRequest(request) : nobodyToAsk;
    if (refusal || !participant) this.#refuse(request.id, refusal ?? nobodyToAsk);
    else participant.hear(this.#asked.ask(participant, request), origin?.id);
  }

  #refuse(id: RequestId, error: JsonRpcError): void {
    queueMicrotask(() => this.onmessage?.({ jsonrpc: '2.0', id, error }));
  }

  #spread(said: Message, relatedRequestId: RequestId | undefined): void {
    const origin = this.#originOf(relatedRequestId);
    const isNamed = relatedRequestId !== undefined;
    if (said.method === 'notifications/progress') this.#progress(said, origin, isNamed);
    else if (said.method === 'notifications/cancelled') {
      const cancelled = this.#asked.cancel(said);
      cancelled?.participant.hear(cancelled.message, origin?.id);
    } else if (isNamed) origin?.participant?.hear(said, origin.id);
    else if (announcements.has(said.method as string)) this.#options.announce(said);
    // A message without a call may be about anybody: with many participants it goes to no one (T-127).
    else (origin?.participant ?? this.#options.sole)?.hear(said, origin?.id);
  }

  #progress(said: Message, origin: PendingCall | undefined, isNamed: boolean): void {
    const call = this.#calls.get(said.params?.progressToken);
    if (call?.progressToken === undefined) return;
    // A token of one request that is sent during another is a mistake of the server.
    if (origin !== call && (origin || isNamed)) return;
    call.participant?.hear(
      { ...said, params: { ...said.params, progressToken: call.progressToken } },
      call.id,
    );
  }
}
