import { createHash, hash, randomBytes } from 'node:crypto';
import type { RequestId } from '@modelcontextprotocol/server';
import { isId } from '../../collections/exact-json.ts';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { SessionChange } from '../../storage/mcp-sessions.ts';
import { type Exchange, type Posted, toWebRequest } from '../http/exchange.ts';
import type { CallLimit, Deadlines } from '../http/limits.ts';
import { type Refusal, sessionMoves, tooManyCalls } from '../http/refusal.ts';
import type { Conversation, Listener, McpLike, Message, RequestMessage, Sender } from '../protocol.ts';
import { heldBytesError } from '../sdk/json-rpc-errors.ts';
import type { SessionStream, SessionStreams } from './session-streams.ts';

/** Options of a session. */
export interface SessionOptions {
  id: string;
  /** Key of the session in the storage. */
  key: string;
  principal: string;
  /** Hash of the grant by which it was used last; null if there is none. */
  grantHash: string | null;
  protocolVersion: string;
  /** True if the client sent `notifications/initialized`. */
  isInitialized: boolean;
  /** URIs the client subscribed to. */
  subscriptions: readonly string[];
  streams: SessionStreams;
  /** The endpoint's public URL. */
  url: URL;
  /** Time at which a waiting POST becomes a stream. */
  late: Deadlines;
  calls: CallLimit;
  /** Epoch seconds. */
  usedAt: number;
  /** Returns whether this process may serve it at this moment; absent if no other process could. */
  isServedHere?: () => boolean;
  /** Stores state that a restart must restore; resolves when it is stored. */
  onChange: (change: SessionChange) => Promise<unknown>;
  /** Called when the server ended the session. */
  onEnded: () => void;
}

/** Maximum length of a session's stored subscriptions, in characters: all are written with each new one. */
const maxSubscriptionsLength = 65_536;

/**
 * A session of the revisions 2025-03-26 to 2025-11-25: the running requests of one client, and their responses. It
 * belongs to the principal that opened it (T-125, T-126).
 * @see MCP 2025-11-25 transports "Session Management"
 */
export class Session implements Listener {
  readonly id: string;
  readonly key: string;
  readonly principal: string;
  readonly protocolVersion: string;
  readonly streams: SessionStreams;
  /** Epoch seconds. */
  usedAt: number;
  #grantHash: string | null;
  readonly #url: URL;
  readonly #late: Deadlines;
  readonly #calls: CallLimit;
  readonly #isServedHere: (() => boolean) | undefined;
  readonly #onChange: (change: SessionChange) => Promise<unknown>;
  readonly #onEnded: () => void;
  readonly #subscriptions: Set<string>;
  readonly #running = new InFlightMap<RequestId, Post>();
  #conversation: Conversation | undefined;
  #isInitialized: boolean;
  #isEnded = false;
  #isOver = false;

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.key = options.key;
    this.principal = options.principal;
    this.protocolVersion = options.protocolVersion;
    this.streams = options.streams;
    this.usedAt = options.usedAt;
    this.#grantHash = options.grantHash;
    this.#url = options.url;
    this.#late = options.late;
    this.#calls = options.calls;
    this.#isServedHere = options.isServedHere;
    this.#onChange = options.onChange;
    this.#onEnded = options.onEnded;
    this.#subscriptions = new Set(options.subscriptions);
    this.#isInitialized = options.isInitialized;
  }

  /** True if it has ended in this process. It accepts no further messages. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Refusal of requests that were on their way when it ended; undefined until then. */
  get refusal(): Refusal | undefined {
    if (!this.#isEnded) return undefined;
    return this.#isOver ? { reason: 'session_unknown' } : sessionMoves;
  }

  /** True if a request runs. */
  get hasCalls(): boolean {
    return this.#running.size > 0;
  }

  /** True if a request runs or a stream is open. */
  get isInUse(): boolean {
    return this.hasCalls || this.streams.openCount > 0;
  }

  /** The server behind it. */
  get server(): McpLike | undefined {
    return this.#conversation?.server;
  }

  /**
   * Stores the grant that uses the session. A new login of its client has another one.
   * @returns resolves when it is stored
   */
  async useBy(grantHash: string | null): Promise<void> {
    if (grantHash === this.#grantHash) return;
    this.#grantHash = grantHash;
    await this.#onChange({ grantHash });
  }

  /** Sets its conversation. */
  carry(conversation: Conversation): void {
    this.#conversation = conversation;
  }

  /** Takes the messages of a POST. An id in use is rejected, so that no response is lost (T-142). */
  post(exchange: Exchange, { messages }: Posted): Refusal | undefined {
    if (this.refusal) return this.refusal;
    const waiting = new Map<RequestId, RequestMessage>();
    for (const request of messages.requests) {
      const { id } = request;
      if (waiting.has(id) || this.#running.has(id)) return { reason: 'request_id_in_use' };
      waiting.set(id, request);
    }
    if (!this.#calls.begin(this.principal, waiting.size)) return tooManyCalls;
    if (waiting.size === 0) exchange.reply.empty(202);
    const post = new Post(exchange, this.#url, this.streams, messages.isBatch, waiting);
    for (const id of waiting.keys()) this.#running.set(id, post);
    const { calls } = exchange;
    for (const message of messages.list)
      if (calls) calls.runMessage(message, () => this.say(message, post));
      else this.say(message, post);
    post.streamWhenLate(this.#late);
    return undefined;
  }

  /** Sends a message of the client to the server. */
  say(message: Message, sender: Sender): void {
    this.#conversation?.say(message, sender);
    if (message.id !== undefined) return;
    if (message.method === 'notifications/initialized' && !this.#isInitialized) {
      this.#isInitialized = true;
      void this.#onChange({ isInitialized: true });
    }
    if (message.method === 'notifications/cancelled') this.#forget(message.params?.requestId);
  }

  hear(message: Message, relatedTo?: RequestId): void {
    // A process that was paused may have lost the session, and hears its server before its own clock.
    if (this.#isServedHere?.() === false) return;
    const post = relatedTo === undefined ? undefined : this.#running.get(relatedTo);
    if (message.method === undefined) this.#answer(message);
    else if (post) post.tell(message);
    else this.streams.tell(message);
  }

  ended(): void {
    this.#isEnded = true;
    this.#onEnded();
  }

  /**
   * Ends it in this process: running calls are cancelled and its streams closed.
   * @param isOver true if no process restores it from the storage
   */
  async end(isOver: boolean): Promise<void> {
    this.#isEnded = true;
    this.#isOver ||= isOver;
    const posts = new Set(this.#running.values());
    this.#calls.end(this.principal, this.#running.size);
    this.#running.clear();
    for (const post of posts) post.abandon();
    this.streams.end();
    await this.#conversation?.end();
  }

  #answer(message: Message): void {
    const id = message.id as RequestId;
    const post = this.#running.get(id);
    const request = post?.requestOf(id);
    if (!post || !request) return;
    const kept = 'error' in message ? undefined : this.#remember(request);
    const send = (told: Message): void => {
      // The call may have been cancelled, or the session ended, until its change or its record was stored.
      if (this.#running.get(id) === post) this.#sendAnswer(id, post, told);
    };
    if (kept) void kept.then(() => post.record(message, send));
    else post.record(message, send);
  }

  #sendAnswer(id: RequestId, post: Post, message: Message): void {
    this.#running.delete(id);
    this.#calls.end(this.principal);
    post.answer(id, message);
  }

  /**
   * Stores state that a restored server needs again.
   * @returns resolves when it is stored, and only then the client gets the response; undefined if nothing changed
   */
  #remember({ method, params }: RequestMessage): Promise<unknown> | undefined {
    if (method === 'logging/setLevel') return this.#onChange({ logLevel: String(params?.level) });
    if (method === 'resources/subscribe') return this.#rememberSubscription(String(params?.uri));
    if (method === 'resources/unsubscribe' && this.#subscriptions.delete(String(params?.uri)))
      return this.#onChange({ subscriptions: [...this.#subscriptions] });
    return undefined;
  }

  #rememberSubscription(uri: string): Promise<unknown> | undefined {
    const subscriptions = [...this.#subscriptions, uri];
    const isKnown = this.#subscriptions.has(uri);
    if (isKnown || subscriptions.join('').length > maxSubscriptionsLength) return undefined;
    this.#subscriptions.add(uri);
    return this.#onChange({ subscriptions });
  }

  #forget(id: unknown): void {
    if (!isId(id)) return;
    const post = this.#running.get(id);
    if (!this.#running.delete(id)) return;
    this.#calls.end(this.principal);
    post?.forget(id);
  }
}

/** The key of a request on a stream, in which the ids 1 and "1" differ. */
function keyOf(id: RequestId): string {
  return JSON.stringify(id);
}

const sessionEnded = {
  code: -32000,
  message: 'The session ended while this call ran. It may have taken effect; check before calling again.',
};

/**
 * A POST of a session with running requests. Its response is JSON if the responses come soon and without other messages,
 * else a stream that can be resumed (B3-04, B3-05). It is the sender of its messages.
 */
class Post implements Sender {
  readonly #exchange: Exchange;
  readonly #url: URL;
  readonly #streams: SessionStreams;
  readonly #isBatch: boolean;
  readonly #waiting: Map<RequestId, RequestMessage>;
  #answers: Message[] = [];
  /** Functions that end the counting of responses that wait for the others. */
  #releases: (() => void)[] = [];
  #stream: SessionStream | undefined;
  #forgetLate: (() => void) | undefined;

  /**
   * @param url the endpoint's public URL
   * @param waiting its requests, by their ids
   */
  constructor(
    exchange: Exchange,
    url: URL,
    streams: SessionStreams,
    isBatch: boolean,
    waiting: Map<RequestId, RequestMessage>,
  ) {
    this.#exchange = exchange;
    this.#url = url;
    this.#streams = streams;
    this.#isBatch = isBatch;
    this.#waiting = waiting;
  }

  get authInfo(): AuthInfo {
    return this.#exchange.authInfo;
  }

  request(): Request {
    return toWebRequest(this.#exchange, this.#url);
  }

  // Handlers call these without their object, so they are bound.
  closeSSEStream = (): void => {
    if (this.#waiting.size > 0) this.#openStream().release();
  };
  closeStandaloneSSEStream = (): void => this.#streams.release();

  /** Becomes a stream after some time, so that a long call is kept alive and can be resumed. */
  streamWhenLate(late: Deadlines): void {
    if (this.#waiting.size === 0 || this.#stream) return;
    this.#forgetLate = late.set(() => this.#openStream());
  }

  /** Returns the waiting request with an id. */
  requestOf(id: RequestId): RequestMessage | undefined {
    return this.#waiting.get(id);
  }

  /** Records the response to a call, and sends it. */
  record(message: Message, send: (message: Message) => void): void {
    const { calls } = this.#exchange;
    if (calls) calls.answer(message, send);
    else send(message);
  }

  /** Sends a message before a response. */
  tell(message: Message): void {
    this.#openStream().write(message);
  }

  /** Sends a response. The last one ends the POST. */
  answer(id: RequestId, message: Message): void {
    this.#waiting.delete(id);
    if (this.#stream) this.#stream.write(message, keyOf(id));
    else this.#answers.push(this.#waiting.size > 0 ? this.#park(message) : message);
    this.#endWhenNothingWaits();
  }

  /** Abandons a request that its sender cancelled; no response is sent (T-141). */
  forget(id: RequestId): void {
    this.#waiting.delete(id);
    this.#exchange.calls?.cancel(id);
    this.#stream?.owe([...this.#waiting.keys()].map(keyOf));
    this.#endWhenNothingWaits();
  }

  /**
   * Ends it early. A stream ends without an error, because it may be resumed; a JSON response has the error.
   */
  abandon(): void {
    if (!this.#stream)
      for (const { id } of this.#waiting.values())
        this.#answers.push({ jsonrpc: '2.0', id, error: sessionEnded } as Message);
    this.#exchange.calls?.failRest(sessionEnded);
    this.#waiting.clear();
    this.#endWhenNothingWaits();
  }

  /** Counts a response that waits for the others. @returns the message to send: without room, an error */
  #park(message: Message): Message {
    const release = this.#exchange.reply.park(message);
    if (!release) return heldBytesError(message) as Message;
    this.#releases.push(release);
    return message;
  }

  #release(): void {
    for (const release of this.#releases) release();
    this.#releases = [];
  }

  #endWhenNothingWaits(): void {
    if (this.#waiting.size > 0) return;
    this.#release();
    this.#forgetLate?.();
    const { reply } = this.#exchange;
    if (this.#stream) this.#streams.finish(this.#stream);
    else if (reply.isClosed) return;
    else if (this.#answers.length === 0) reply.empty(202);
    else reply.json(200, this.#isBatch ? this.#answers : this.#answers[0]);
  }

  #openStream(): SessionStream {
    if (this.#stream) return this.#stream;
    this.#forgetLate?.();
    const answered = this.#answers.map((message) => ({ message, key: keyOf(message.id as RequestId) }));
    this.#answers = [];
    this.#release();
    this.#stream = this.#streams.begin(this.#exchange, [
      ...answered.map(({ key }) => key),
      ...[...this.#waiting.keys()].map(keyOf),
    ]);
    for (const { message, key } of answered) this.#stream.write(message, key);
    return this.#stream;
  }
}

/**
 * The time at which a session was opened, in milliseconds of base 36, before the random part. Dated tokens of
 * `crypto/secret` have the same form.
 */
const shape = /^([0-9a-z]{9})-[\w-]{43}$/;

/**
 * Returns the id of a new session: visible characters, a date and 256 random bits.
 * @see MCP 2025-11-25, basic/transports, Session Management
 */
export function createSessionId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}-${randomBytes(32).toString('base64url')}`;
}

/**
 * Returns the stored key of a session: the date and a hash of its id. Sessions opened in sequence are then neighbours in an
 * index; with hashes alone each would touch another page.
 * @param id as a client sends it; an id of another form has its hash alone as key
 */
export function hashSessionId(id: string): string {
  return (shape.exec(id)?.[1] ?? '') + hash('sha256', id, 'base64url');
}

/** Hashes by caller: a token's caller is the same object on each request. */
const known = new WeakMap<object, string>();

/** Returns the hash of a grant id, as sessions store it. */
export function hashGrant(grantId: string): string {
  return createHash('sha256').update(`grant:${grantId}`).digest('base64url');
}

/** Returns the hash of a caller's grant; null without one, as for a client that acts for itself. */
export function grantHashOf(authInfo: AuthInfo): string | null {
  if (authInfo.grantId === undefined) return null;
  const hash = known.get(authInfo) ?? hashGrant(authInfo.grantId);
  if (Object.isFrozen(authInfo)) known.set(authInfo, hash);
  return hash;
}
