import { randomBytes } from 'node:crypto';
import type { RequestId } from '@modelcontextprotocol/server';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import {
  type AccessWatch,
  type EventStream,
  type Exchange,
  type Posted,
  type Serve,
  toWebRequest,
} from '../http/exchange.ts';
import type { CallLimit } from '../http/limits.ts';
import { closing, type Refusal, tooManyCalls } from '../http/refusal.ts';
import {
  type Conversation,
  type Conversations,
  type InitializeParams,
  type JsonRpcError,
  type Listener,
  type McpLike,
  type Message,
  type RequestMessage,
  revisionWithBatches,
  type Sender,
} from '../protocol.ts';
import { readInitialize } from '../reading/messages.ts';
import type { ScopeGate } from '../scopes/scope-gate.ts';
import { heldBytesError } from '../sdk/json-rpc-errors.ts';

/** Parts of the transport. */
export interface SseTransportOptions {
  conversations: Conversations;
  /** Public URL of the endpoint that messages are posted to, without a query. */
  postUrl: URL;
  /** Checks the scopes of messages. */
  gate: Pick<ScopeGate, 'check'>;
  accessWatch: AccessWatch;
  /** Counts the streams of a principal and of all; each that begins is ended once. */
  streams: { begin(principal: string): Refusal | undefined; end(principal: string): void };
  calls: CallLimit;
  /** Id of this process, if several serve the installation: it stands in front of the ids of sessions. */
  processId?: string;
  /** Idle time of a stream, in milliseconds; 5 minutes by default. */
  idleMs?: number;
  logger: Logger;
}

/** Separates the id of a process from the rest of a session id. */
const processMark = '~';

/** Returns the id of the process that serves a session of this transport; undefined if the session id names none. */
export function processOfSse(sessionId: string): string | undefined {
  const end = sessionId.indexOf(processMark);
  return end > 0 ? sessionId.slice(0, end) : undefined;
}

/** HTTP+SSE: a stream that is opened by GET, and a second endpoint that takes the client's messages. */
export interface SseTransport {
  /** Serves GET: opens a stream and names the address to post to. */
  open: Serve;
  /** Serves POST: takes messages for the stream that the query names. */
  post: Serve;
  /** Ends the streams on which nobody waits for an answer; later ones are refused. */
  endIdle(): Promise<void>;
  /** Ends all streams, what runs on them with an error; later ones are refused. */
  close(): Promise<void>;
}

const defaultIdleMs = 5 * 60_000;

/**
 * Creates the transport of 2024-11-05. Each stream is a session of its own, bound to the principal that opened it: to
 * all others there is none (B2-06, T-125).
 * @see MCP 2024-11-05 transports "HTTP with SSE" (B2-01 to B2-07)
 */
export function createSseTransport(options: SseTransportOptions): SseTransport {
  const { postUrl, gate, streams, processId, idleMs = defaultIdleMs } = options;
  const { conversations, accessWatch, calls, logger } = options;
  const sessions = new Map<string, SseSession>();
  let isClosing = false;

  return {
    async open({ authInfo, reply }) {
      if (isClosing) return closing;
      const principal = principalKey(authInfo);
      const refusal = streams.begin(principal);
      if (refusal) return refusal;

      const secret = randomBytes(32).toString('base64url');
      const id = processId === undefined ? secret : `${processId}${processMark}${secret}`;
      const stream = reply.stream();
      const onEnd = (): void => {
        sessions.delete(id);
        streams.end(principal);
      };
      const shared = { conversations, accessWatch, calls, idleMs, logger };
      const session = new SseSession({ ...shared, principal, authInfo, stream, onEnd });
      if (session.isEnded) return undefined;
      sessions.set(id, session);
      stream.send(`${postUrl.pathname}?sessionId=${id}`, undefined, 'endpoint');
      return undefined;
    },

    async post(exchange, posted) {
      if (!posted) throw new Error('The endpoint of messages serves requests with a body alone.');
      const { authInfo, query, reply } = exchange;
      const session = sessions.get(new URLSearchParams(query).get('sessionId') ?? '');
      if (session?.principal !== principalKey(authInfo)) return { reason: 'session_unknown' };
      for (let isJudged = false; !isJudged; ) {
        const { server } = session;
        const lacked = await gate.check(posted.messages, authInfo, server);
        if (lacked) return lacked;
        // A server that began meanwhile judges the messages by its own rules as well.
        isJudged = session.server === server;
      }
      if (session.isEnded) return { reason: 'session_unknown' };
      const refusal = session.begin(posted, exchange);
      if (refusal) return refusal;
      reply.empty(202);
      session.take(posted, { authInfo, request: () => toWebRequest(exchange, postUrl) }, exchange.calls);
      return undefined;
    },

    async endIdle() {
      isClosing = true;
      const idle = [...sessions.values()].filter(({ isIdle }) => isIdle);
      await Promise.all(idle.map((session) => session.end()));
    },

    async close() {
      isClosing = true;
      await Promise.all([...sessions.values()].map((session) => session.stop()));
    },
  };
}

/** A message of the server that waits for a renewed token. */
interface Held {
  message: Message;
  /** Ends the count of its bytes. */
  release: () => void;
}

/** More of them end the session. */
const maxHeld = 100;

/** Parts of the session. */
export interface SseSessionOptions {
  /** See `principalKey`. */
  principal: string;
  /** The access it was opened with. */
  authInfo: AuthInfo;
  stream: EventStream;
  conversations: Conversations;
  accessWatch: AccessWatch;
  calls: CallLimit;
  /** Idle time of a session, in milliseconds: the client sends nothing and waits for nothing. */
  idleMs: number;
  logger: Logger;
  /** Called once when it ends. */
  onEnd: () => void;
}

const notInitialized: JsonRpcError = {
  code: errorCodes.invalidRequest,
  message: 'Invalid request: send initialize first, once on every stream.',
};
const initializedBefore: JsonRpcError = {
  code: errorCodes.invalidRequest,
  message: 'Invalid request: this stream is initialized already. Open a new one to begin again.',
};
const serverEnded: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The MCP server ended before it answered. The call may still have had its effect.',
};
const notStarted: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The MCP server could not be started.',
};

/**
 * A stream of HTTP+SSE and the conversation on it. It ends with the stream, with the access of its principal, when the
 * server ends the conversation, and when it is idle.
 *
 * A client cannot resume it. So an expired token does not end it at once: the client's next POST gets 401, and the client
 * goes on with a renewed token. Until then the stream carries what belongs to calls that were accepted before, and the rest waits.
 * @see MCP 2024-11-05 transports "HTTP with SSE" (B2-03, B2-04, B2-06)
 */
class SseSession implements Listener {
  readonly #options: SseSessionOptions;
  readonly #idle: NodeJS.Timeout;
  /** Requests without a response, each with the calls of its body. */
  readonly #running = new Map<RequestId, Exchange['calls']>();
  #authInfo: AuthInfo;
  #unwatch: () => void = () => undefined;
  #isOpening = false;
  #conversation: Conversation | undefined;
  #revision: string | undefined;
  /** Messages that wait for a renewed token; undefined while the token is good. */
  #held: Held[] | undefined;
  #isEnded = false;

  constructor(options: SseSessionOptions) {
    this.#options = options;
    this.#idle = setTimeout(() => this.#endIfIdle(), options.idleMs).unref();
    this.#authInfo = options.authInfo;
    this.#watch(options.authInfo);
    options.stream.onClose(() => void this.end());
  }

  get principal(): string {
    return this.#options.principal;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** True if nothing it asked waits for an answer. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** The server behind it, once it is initialized. */
  get server(): McpLike | undefined {
    return this.#conversation?.server;
  }

  /**
   * Counts the requests of a POST, before they are taken. Batches are of 2025-03-26 alone, on every transport (C1-02);
   * an id names one running request (T-142).
   * @param exchange the POST with the access it came with; a client that refreshes its token keeps its stream (A12-04)
   * @returns why the POST is refused; then nothing of it was counted
   */
  begin({ messages }: Posted, { authInfo, calls: recorded }: Exchange): Refusal | undefined {
    const { isBatch, list, requests } = messages;
    const { calls, principal } = this.#options;
    const [first] = requests;
    const about = first === undefined || isBatch ? {} : { id: first.id };
    if (isBatch && this.#revision !== revisionWithBatches) return { reason: 'batch_not_in_this_revision' };
    if (list[0]?.method === 'initialize' && !(first && readInitialize(first)))
      return { reason: 'initialize_incomplete', ...about };
    const begun: RequestId[] = [];
    const refuse = (refusal: Refusal): Refusal => {
      for (const id of begun) this.#forget(id);
      return { ...refusal, ...about };
    };
    for (const { id } of requests) {
      if (this.#running.has(id)) return refuse({ reason: 'request_id_in_use' });
      if (!calls.begin(principal)) return refuse(tooManyCalls);
      this.#running.set(id, recorded);
      begun.push(id);
    }
    this.#idle.refresh();
    if (authInfo.expiresAt > this.#authInfo.expiresAt) this.#renew(authInfo);
    return undefined;
  }

  /** Takes the messages of a POST that was counted. What they are answered comes on the stream. */
  take({ messages }: Posted, sender: Sender, calls: Exchange['calls']): void {
    for (const message of messages.list) {
      if (message.method === 'initialize') void this.#initialize(message as RequestMessage, sender);
      else if (calls) calls.runMessage(message, () => this.#say(message, sender));
      else this.#say(message, sender);
    }
  }

  hear(message: Message): void {
    const isAnswer = message.method === undefined && message.id !== undefined;
    if (isAnswer) this.#record(message.id as RequestId, message, (told) => this.#sendAnswer(told));
    else if (this.#held && this.#running.size === 0) this.#hold(message, this.#held);
    else this.#options.stream.send(JSON.stringify(message));
  }

  #sendAnswer(message: Message): void {
    const { stream } = this.#options;
    const instead = heldBytesError(message);
    const release = stream.park(message);
    const told = release ? message : instead;
    release?.();
    stream.send(JSON.stringify(told), undefined, undefined, JSON.stringify(instead));
  }

  ended(): void {
    void this.end();
  }

  /** Ends the stream and the conversation; running calls are cancelled. */
  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#idle);
    this.#unwatch();
    for (const id of this.#running.keys()) this.#cancel(id);
    for (const { release } of this.#held ?? []) release();
    this.#options.stream.end();
    this.#options.onEnd();
    if (this.#conversation) await this.#endConversation(this.#conversation);
  }

  /** Ends it because nothing is served any more: what runs is answered with an error first (T-181). */
  stop(): Promise<void> {
    for (const id of [...this.#running.keys()]) this.#answer(id, { error: serverEnded });
    return this.end();
  }

  #watch(authInfo: AuthInfo): void {
    this.#unwatch();
    this.#authInfo = authInfo;
    const { accessWatch, idleMs } = this.#options;
    this.#unwatch = accessWatch.watch(authInfo, () => void this.end(), {
      seconds: idleMs / 1000,
      onExpiry: () => {
        this.#held = [];
      },
    });
    if (this.#isEnded) this.#unwatch();
  }

  /** Goes on with a renewed token, and sends what waited for it. */
  #renew(authInfo: AuthInfo): void {
    this.#watch(authInfo);
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { message, release } of held) {
      release();
      this.#options.stream.send(JSON.stringify(message));
    }
  }

  #hold(message: Message, held: Held[]): void {
    const release = held.length < maxHeld ? this.#options.stream.park(message) : undefined;
    if (release) held.push({ message, release });
    else void this.end();
  }

  #endIfIdle(): void {
    if (this.#running.size > 0) this.#idle.refresh();
    else void this.end();
  }

  #say(message: Message, sender: Sender): void {
    const { id, method, params } = message;
    if (this.#conversation) {
      if (method === 'notifications/cancelled') this.#cancel(params?.requestId as RequestId);
      this.#conversation.say(message, sender);
    } else if (method !== undefined && id !== undefined) {
      this.#answer(id, method === 'ping' ? { result: {} } : { error: notInitialized });
    }
  }

  async #initialize({ id, params }: RequestMessage, sender: Sender): Promise<void> {
    if (this.#conversation || this.#isOpening) return this.#answer(id, { error: initializedBefore });
    const { conversations, logger } = this.#options;
    this.#isOpening = true;
    const opening = await conversations
      .open(params as InitializeParams, sender, this)
      .catch((error: unknown) => {
        logger.error({ err: error }, 'an MCP server could not be started');
        return { error: notStarted };
      });
    this.#isOpening = false;
    if ('error' in opening) return this.#answer(id, { error: opening.error });
    if (this.#isEnded) return this.#endConversation(opening.conversation);
    this.#conversation = opening.conversation;
    this.#revision = opening.result.protocolVersion;
    this.#answer(id, { result: opening.result });
  }

  async #endConversation(conversation: Conversation): Promise<void> {
    try {
      await conversation.end();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'an MCP conversation failed to end');
    }
  }

  /** Answers a request of the client without the MCP server. */
  #answer(id: RequestId, outcome: { result: unknown } | { error: JsonRpcError }): void {
    const message = { jsonrpc: '2.0', id, ...outcome } as Message;
    this.#record(id, message, (told) => this.#options.stream.send(JSON.stringify(told)));
  }

  /** Records the response to a call, and sends it. */
  #record(id: RequestId, message: Message, send: (message: Message) => void): void {
    const calls = this.#running.get(id);
    this.#forget(id);
    if (calls) calls.answer(message, send);
    else send(message);
  }

  #cancel(id: RequestId): void {
    this.#running.get(id)?.cancel(id);
    this.#forget(id);
  }

  #forget(id: RequestId): void {
    if (this.#running.delete(id)) this.#options.calls.end(this.principal);
  }
}
