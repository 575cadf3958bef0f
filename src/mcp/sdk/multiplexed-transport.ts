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
import { MessageContext } from './caller.ts';
import { withLegacyCode } from './json-rpc-errors.ts';
import { type Answer, type Call, type Party, ServerRequests } from './participants.ts';
import { askedOf, type CheckWritable, createWritableCheck } from './serializable.ts';

/** Further participants of a line, beside the callers of running requests. */
export interface LineOptions {
  /** The only participant, if the server serves one. */
  sole?: Party;
  /**
   * True if the server stands in another process. Such a server does not say for which call it sends something: while
   * one call runs, it is for that one.
   */
  isElsewhere?: boolean;
  /** True if its parties are of many accounts: then what it sends is for nobody unless it names the call (T-158). */
  isForEveryone?: boolean;
  /** Takes notifications about what the server offers, which no single call has caused. */
  announce(notification: Message): void;
  /** Called once, when the server closed. */
  onClose(): void;
  logger: Logger;
}

/** Notifications about what a server offers, to all whom it concerns. */
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
 * The line to one server: a transport of the SDK that carries any number of conversations. The server sees ids and
 * progress tokens that are unique on the line, whatever clients choose; each client sees its own, so that no message
 * can reach another (T-127, T-142). What the server sends without saying to which request it belongs is known by the
 * asynchronous context it is sent from, as long as that request runs.
 */
export class ServerLine implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;

  /** Revisions the server says it speaks; undefined if it does not say. */
  supportedVersions: readonly string[] | undefined;
  isClosed = false;

  readonly #options: LineOptions;
  /** None if the server stands elsewhere: it has said as JSON what it says. */
  readonly #checkWritable: CheckWritable | undefined;
  readonly #calls = new InFlightMap<unknown, Call>();
  readonly #asked = new ServerRequests();
  readonly #origin = new AsyncLocalStorage<Call>();
  #lastId: number;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#checkWritable = options.isElsewhere ? undefined : createWritableCheck(options.logger);
    // Some bridges give everybody the answers of one process: with ids of its own, a line takes none of another's (T-158).
    this.#lastId = options.isElsewhere ? randomInt(2 ** 47) : 0;
  }

  /** Number of requests of either side without a response. */
  get pending(): number {
    return this.#calls.size + this.#asked.size;
  }

  /** The session of whoever the server is serving at this moment. */
  get sessionId(): string | undefined {
    return (this.#origin.getStore()?.party ?? this.#options.sole)?.sessionId;
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.supportedVersions = versions;
  }

  /**
   * Connects a server and has it answer `initialize`.
   * @throws what its `connect` throws
   */
  async open(server: McpLike, params: InitializeParams, sender: Sender): Promise<Answer> {
    await server.connect(this);
    return new Promise((resolve) => {
      const message: RequestMessage = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
      this.call(undefined, message, sender, resolve);
    });
  }

  /**
   * Hands the server a request of a client.
   * @param onAnswer takes the answer before the party does
   */
  call(
    party: Party | undefined,
    message: RequestMessage,
    sender: Sender,
    onAnswer?: (answer: Answer) => void,
  ): void {
    const { id, method, params } = message;
    const meta = params?._meta as { progressToken?: unknown } | undefined;
    const progressToken = meta?.progressToken;
    const lineId = ++this.#lastId;
    const call: Call = {
      party,
      id,
      progressToken,
      onAnswer,
      principal: sender.authInfo && principalKey(sender.authInfo),
      asked: askedOf(message),
      lineId,
      isRunning: true,
    };
    this.#calls.set(lineId, call);
    party?.calls.set(lineId, call);
    if (this.isClosed) {
      this.#answer(call, { jsonrpc: '2.0', error: closed });
      return;
    }

    // A server that speaks 2026-07-28, too, would take it for a state that was sealed and opened (T-129, T-133).
    if (party && params && ('requestState' in params || 'inputResponses' in params)) {
      queueMicrotask(() => call.isRunning && this.#answer(call, { jsonrpc: '2.0', error: notOfRevision }));
      return;
    }

    const request: RequestMessage = { jsonrpc: '2.0', id: lineId, method };
    if (params && progressToken !== undefined)
      request.params = { ...params, _meta: { ...meta, progressToken: lineId } };
    else if (params) request.params = params;
    this.#deliver(request, call, sender);
  }

  /** Hands the server a notification of a client. Cancellations and progress count only for what is its own (T-141). */
  notify(party: Party | undefined, message: Message, sender: Sender): void {
    if (message.method === 'notifications/cancelled') {
      this.#cancelOwn(party, message, sender);
      return;
    }
    const isProgress = party && message.method === 'notifications/progress';
    const passed = isProgress ? this.#asked.progress(party, message) : message;
    if (!passed) return;
    const origin = {
      party,
      id: undefined,
      progressToken: undefined,
      onAnswer: undefined,
      principal: undefined,
      asked: undefined,
    };
    this.#deliver(passed, { ...origin, lineId: 0, isRunning: true }, sender);
  }

  /** Hands the server a client's answer to a request of the server. One that nobody waits for is dropped (T-128). */
  answer(party: Party, message: Message): void {
    const answer = this.#asked.answer(party, message);
    if (answer) this.onmessage?.(answer as JSONRPCMessage);
  }

  /** Cancels all a party has running, and tells the server that it answers nothing more. */
  release(party: Party, sender: Sender): void {
    for (const call of party.calls.values()) this.#cancel(call, 'The client ended the conversation.', sender);
    for (const id of this.#asked.forgetAll(party)) this.#refuse(id, gone);
  }

  async start(): Promise<void> {}

  /** Takes a message of the server. */
  async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId | undefined }): Promise<void> {
    const said = message as Answer;
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

  /** The server closes the line: what still runs is answered with an error. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const call of this.#calls.values()) this.#answer(call, { jsonrpc: '2.0', error: closed });
    this.onclose?.();
    this.#options.onClose();
  }

  #deliver(message: Message, origin: Call, sender: Sender): void {
    const take = this.onmessage;
    if (!take || this.isClosed) return;
    const context = new MessageContext(sender);
    if (this.#options.isElsewhere) take(message as JSONRPCMessage, context);
    else this.#origin.run(origin, take, message as JSONRPCMessage, context);
  }

  #answer(call: Call, answer: Answer): void {
    this.#forget(call);
    const restored = { ...answer, id: call.id } as Answer;
    if (answer.error && call.asked) restored.error = withLegacyCode(answer.error, call.asked);
    call.onAnswer?.(restored);
    call.party?.hear(restored);
  }

  #forget(call: Call): void {
    call.isRunning = false;
    this.#calls.delete(call.lineId);
    call.party?.calls.delete(call.lineId);
  }

  #cancelOwn(party: Party | undefined, message: Message, sender: Sender): void {
    const { requestId, reason } = message.params ?? {};
    const call = party?.calls.values().find(({ id }) => id === requestId);
    if (call) this.#cancel(call, reason, sender);
  }

  #cancel(call: Call, reason: unknown, sender: Sender): void {
    this.#forget(call);
    const params = { requestId: call.lineId, ...(typeof reason === 'string' ? { reason } : {}) };
    this.#deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, call, sender);
  }

  /** The call the server sends something for: the one it names, the one in whose context it runs, or the only one. */
  #originOf(relatedRequestId: RequestId | undefined): Call | undefined {
    if (relatedRequestId !== undefined) return this.#calls.get(relatedRequestId);
    if (this.#options.isForEveryone) return undefined;
    if (this.#options.isElsewhere) return this.#onlyCall();
    const origin = this.#origin.getStore();
    return origin?.isRunning ? origin : undefined;
  }

  /**
   * The only call of a client that runs. If several calls run, those are left out whose client has an unanswered
   * request: it may never return. If none is left, it is the call that was sent last. Among calls of several clients
   * nothing is guessed: a question about one would be put to another (T-203).
   */
  #onlyCall(): Call | undefined {
    const ofClients = this.#calls.values().filter(({ party }) => party !== undefined);
    const [call, another] = ofClients;
    if (!another) return call;
    if (ofClients.some(({ principal }) => principal !== call?.principal)) return undefined;
    const waiting = this.#asked.parties();
    const [free, second] = ofClients.filter(({ party }) => party && !waiting.includes(party));
    if (free) return second ? undefined : free;
    return ofClients.find(({ party }) => party === waiting.at(-1));
  }

  #ask(request: RequestMessage, relatedRequestId: RequestId | undefined): void {
    // The gateway is the client of a server elsewhere: no person is needed to say that it is there (FA-41).
    if (this.#options.isElsewhere && request.method === 'ping') {
      queueMicrotask(() => this.onmessage?.({ jsonrpc: '2.0', id: request.id, result: {} }));
      return;
    }
    const origin = this.#originOf(relatedRequestId);
    const party = relatedRequestId === undefined ? (origin?.party ?? this.#options.sole) : origin?.party;
    const refusal = party ? party.checkRequest(request) : nobodyToAsk;
    if (refusal || !party) this.#refuse(request.id, refusal ?? nobodyToAsk);
    else party.hear(this.#asked.ask(party, request), origin?.id);
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
      cancelled?.party.hear(cancelled.message, origin?.id);
    } else if (isNamed) origin?.party?.hear(said, origin.id);
    else if (announcements.has(said.method as string)) this.#options.announce(said);
    // What nobody's call has caused may be about anybody: where many listen it goes to no one (T-127).
    else (origin?.party ?? this.#options.sole)?.hear(said, origin?.id);
  }

  #progress(said: Message, origin: Call | undefined, isNamed: boolean): void {
    const call = this.#calls.get(said.params?.progressToken);
    if (call?.progressToken === undefined) return;
    // A token of one request, sent during another, is a token the server has mistaken.
    if (origin !== call && (origin || isNamed)) return;
    call.party?.hear({ ...said, params: { ...said.params, progressToken: call.progressToken } }, call.id);
  }
}
