import type { RequestId } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../../collections/in-flight-map.ts';
import { Deadlines, outerId, sentNote } from '../../../mcp/building-blocks.ts';
import type { Message, RequestMessage } from '../../../mcp/protocol.ts';
import { isAboutTheRequest } from '../../../oauth/mcp-error-codes.ts';
import type { Credentials } from '../../credentials/credentials.ts';
import type { BackendFailure } from '../backend-errors.ts';
import { readBody, type WireAnswer, type WireFailure } from './answer-body.ts';
import {
  answerOf,
  failureOfStatus,
  freeHeaders,
  isAnswer,
  isModernError,
  type Link,
  type LinkFailure,
  type LinkKind,
  type LinkListener,
  type LinkParts,
  readAnswer,
  traceHeaders,
} from './link.ts';

/** A message that is sent in a POST. */
export interface Post {
  readonly message: Message;
  /** Set if it is a request. */
  readonly id: RequestId | undefined;
  /** See `Credentials`; those of its own sender, however long it waits. */
  readonly freshHeaders: Credentials['freshHeaders'];
  /** Notes that it is sent, for the record of its call. */
  readonly noteSent: (() => void) | undefined;
  /** Id of the request at the server. */
  sentAs: RequestId | undefined;
  isRepeated: boolean;
  /** True if it counts among the running requests. */
  hasLane: boolean;
  /** True if it was answered or accepted, failed, or was dropped. */
  isOver: boolean;
  /** Stops the current action for it. */
  stop: (() => void) | undefined;
}

/** Maximum size of the body of an error response that is read, in bytes. */
const maxRefusalBytes = 64 * 1024;

/** Milliseconds that requests wait for the response to `notifications/initialized`: some servers never send it. */
const initializedMs = 500;

/** Maximum time for the response to a message that is no request, in milliseconds. */
const takenMs = 10_000;

const untaken = new Deadlines(takenMs);

/** Requests that change nothing, and may be sent again if it is unknown whether the server got them. */
const repeatable =
  /^(?:ping|(?:prompts|resources|tools|resources\/templates)\/list|prompts\/get|resources\/read|completion\/complete)$/;

/** Base of all links. Each message is a POST of its own, and some messages have to wait for others. */
export abstract class PostingLink implements Link {
  abstract readonly kind: LinkKind;
  abstract readonly hasSession: boolean;
  protected readonly parts: LinkParts;
  protected readonly listener: LinkListener;
  protected isClosed = false;
  /** Headers of every request, and those of the caller: names and values in turn. */
  #fixedHeaders: readonly string[] = [];
  #freshHeaders: Credentials['freshHeaders'];
  /** Members of `_meta.auth`, for Rest. */
  protected auth: Credentials['auth'];
  readonly #requests = new InFlightMap<RequestId, Post>();
  /** Messages that need no response. */
  readonly #others = new Set<Post>();
  /** Messages that wait until the server was told that the client is initialized. */
  #held: Post[] | undefined;
  #isInitialized = false;

  constructor(parts: LinkParts, listener: LinkListener) {
    this.parts = parts;
    this.listener = listener;
    this.use(parts.credentials);
  }

  /**
   * Returns the headers of one request: those of every request, and those of the caller; names and values in turn.
   * @param post a message; undefined for another request of the session
   */
  protected ownHeaders(post?: Post): readonly string[] {
    const freshHeaders = post ? post.freshHeaders : this.#freshHeaders;
    return freshHeaders ? [...this.#fixedHeaders, ...freeHeaders(freshHeaders())] : this.#fixedHeaders;
  }

  get isBusy(): boolean {
    return this.#requests.size > 0;
  }

  open(initialize: RequestMessage): void {
    this.send(initialize);
  }

  use(credentials: Credentials): void {
    this.#fixedHeaders = [...this.parts.headers, ...freeHeaders(credentials.headers)];
    this.#freshHeaders = credentials.freshHeaders;
    this.auth = credentials.auth;
  }

  send(message: Message): void {
    const isRequest = message.method !== undefined && message.id !== undefined;
    const id = isRequest ? message.id : undefined;
    const post: Post = {
      message,
      id,
      freshHeaders: this.#freshHeaders,
      noteSent: sentNote(message),
      sentAs: id,
      isRepeated: false,
      hasLane: false,
      isOver: false,
      stop: undefined,
    };
    if (post.id === undefined) this.#others.add(post);
    else this.#requests.set(post.id, post);
    if (this.#held) this.#hold(post);
    else this.#begin(post);
    // Servers refuse requests that overtake it.
    if (message.method === 'notifications/initialized' && !post.isOver) {
      this.#held ??= [];
      setTimeout(() => this.#release(), initializedMs).unref();
    }
  }

  drop(id: RequestId): void {
    const post = this.#requests.get(id);
    if (post) this.cut(post);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const post of this.#requests.values()) this.cut(post);
    // A notification that is being sent still reaches the server: it may cancel a call.
    for (const post of this.#others) this.over(post);
    await this.end();
  }

  /** Path and query of messages. */
  protected abstract path(): string;

  /** Headers of a message, or of another request of the session. */
  protected abstract headers(post?: Post): readonly string[];

  /** Takes a 2xx response to a request. */
  protected abstract answered(post: Post, answer: WireAnswer): void;

  /** Ends the session. */
  protected abstract end(): Promise<void> | void;

  /**
   * The server was told that the client is initialized.
   * @param goOn sends the messages that waited for that
   */
  protected initialized(goOn: () => void): void {
    goOn();
  }

  /** Returns a failure if the response must not be used. */
  protected checkHead(_post: Post, _answer: WireAnswer): BackendFailure | undefined {
    return undefined;
  }

  /** Returns true if an error response means that the session is gone. */
  protected isSessionLost(_status: number, _body: Buffer): boolean {
    return false;
  }

  /** The body of a message. */
  protected bodyOf(post: Post): string {
    return JSON.stringify(post.message);
  }

  /** Reads the messages of an event. If the event cannot be read, its request is rejected. */
  protected readEvent(data: Buffer): readonly Message[] {
    const messages = readAnswer(data, this.parts.maxAnswerValues);
    if (typeof messages !== 'string') return messages;
    this.parts.noteUnreadable(data.length);
    const post = this.requestWith(outerId(data));
    if (post?.hasLane) this.fail(post, { reason: messages });
    return [];
  }

  /** Finds the response to a request among the messages that came for it. */
  protected answerOf(post: Post, messages: readonly Message[]): Message | undefined {
    return answerOf(messages, post.sentAs, (id) => this.requestWith(id) !== undefined);
  }

  /** Returns the running request with an id. */
  protected requestWith(id: RequestId | undefined): Post | undefined {
    return id === undefined ? undefined : this.#requests.get(id);
  }

  /** All requests that wait for answers. */
  protected get requests(): Iterable<Post> {
    return this.#requests.values();
  }

  /** Rejects a request that the server does not answer. */
  protected fail(post: Post, failure: LinkFailure): void {
    if (post.isOver) return;
    this.over(post);
    if (post.id !== undefined) this.listener.failed(post.id, failure);
    else this.parts.noteFailure(failure);
    if (post.message.method === 'notifications/initialized') this.#release();
  }

  /** Ends a post, and releases its response and everything that it refers to. */
  protected over(post: Post): void {
    if (post.isOver) return;
    post.isOver = true;
    post.stop = undefined;
    if (post.id === undefined) this.#others.delete(post);
    else this.#requests.delete(post.id);
    if (post.hasLane) this.#leave(post);
  }

  /**
   * Stops the current action of a post, and ends it.
   * @param failure rejects the request
   */
  protected cut(post: Post, failure?: LinkFailure): void {
    if (post.isOver) return;
    const { stop } = post;
    if (failure) this.fail(post, failure);
    else this.over(post);
    stop?.();
  }

  /** The session is gone: passes its unsent messages on to another. */
  protected lost(unsent: readonly Message[]): void {
    const held = (this.#held ?? []).filter(({ isOver }) => !isOver);
    this.#held = undefined;
    for (const post of held) this.over(post);
    this.listener.lost(this, [...unsent, ...held.map(({ message }) => message)]);
  }

  /** Sends a post that may be sent now. */
  protected post(post: Post): void {
    post.noteSent?.();
    post.stop = this.parts.wire.send(
      {
        method: 'POST',
        path: this.path(),
        headers: [...this.headers(post), ...traceHeaders(post.message)],
        body: this.bodyOf(post),
      },
      { head: (answer) => this.#head(post, answer), failed: (failure) => this.#broke(post, failure) },
    );
  }

  #hold(post: Post): void {
    if (this.#held && this.#held.length < this.parts.maxHeld) this.#held.push(post);
    else this.fail(post, { reason: 'backend_busy', full: 'session_start' });
  }

  #begin(post: Post): void {
    // What a request waits for may be an answer of ours: only requests wait for a lane.
    if (post.id === undefined) {
      this.post(post);
      untaken.set(() => this.cut(post, { reason: 'backend_timed_out' }));
      return;
    }
    const go = (): void => {
      post.hasLane = true;
      if (post.isOver) this.#leave(post);
      else
        this.parts.sendTogether(() => {
          if (!post.isOver) this.post(post);
        });
    };
    const refuse = (): void => this.fail(post, { reason: 'backend_busy', full: 'calls' });
    if (!this.parts.lanes.enter([this.parts.account], go, refuse)) refuse();
  }

  #leave(post: Post): void {
    post.hasLane = false;
    this.parts.lanes.leave([this.parts.account]);
  }

  #head(post: Post, answer: WireAnswer): void {
    const { status } = answer;
    if (!post.isOver) post.stop = () => answer.drop();
    const wrong = this.checkHead(post, answer);
    const isTaken = status >= 200 && status < 300;
    if (wrong !== undefined) {
      answer.drop();
      this.fail(post, { reason: wrong });
    } else if (isTaken && post.id !== undefined) this.answered(post, answer);
    else
      readBody(answer, { maxBytes: maxRefusalBytes, deadlines: this.parts.wire.bodies }, (body) => {
        if (post.isOver) return;
        if (isTaken) this.#taken(post);
        else this.#refused(post, status, typeof body === 'string' ? Buffer.alloc(0) : body);
      });
  }

  #taken(post: Post): void {
    this.over(post);
    if (post.message.method === 'notifications/initialized') this.#release();
  }

  /** Sends the messages that waited for the initialization, or for its timeout. */
  #release(): void {
    if (this.isClosed || this.#isInitialized || !this.#held) return;
    this.#isInitialized = true;
    this.initialized(() => {
      const held = this.#held ?? [];
      this.#held = undefined;
      if (this.isClosed) return;
      for (const post of held) if (!post.isOver) this.#begin(post);
    });
  }

  #refused(post: Post, status: number, body: Buffer): void {
    const messages = readAnswer(body);
    const answers = typeof messages === 'string' ? [] : messages;
    const own = answers.find((message) => isAnswer(message) && message.id === post.sentAs);
    const isLost = this.isSessionLost(status, body);
    // What answers initialize without its id may be a server of another transport.
    const isForIt = isAboutTheRequest(status) && !isLost && post.message.method !== 'initialize';
    const told = own ?? (isForIt ? this.answerOf(post, answers) : undefined);
    if (told && post.id !== undefined && !(isLost && saysSessionLost(told))) {
      this.over(post);
      this.listener.hear({ ...told, id: post.id }, post.id);
    } else if (isLost) {
      this.over(post);
      this.lost([post.message]);
    } else
      this.fail(post, {
        reason: failureOfStatus(status),
        status,
        mayBeOther: isAboutTheRequest(status) && !answers.some(isModernError),
      });
  }

  /** There is no answer to a POST. */
  #broke(post: Post, failure: WireFailure): void {
    if (post.isOver) return;
    const { method = '' } = post.message;
    if (failure.isStale && !post.isRepeated && (post.id === undefined || repeatable.test(method))) {
      post.isRepeated = true;
      this.post(post);
    } else this.fail(post, failure);
  }
}

/** Returns true if an error is about the session, and not about the request. */
function saysSessionLost(answer: Message): boolean {
  const { message } = Object((answer as { error?: unknown }).error) as { message?: unknown };
  return typeof message === 'string' && /session/i.test(message);
}

/**
 * Reads a response that is one JSON body.
 * @param hear takes its messages, and returns true if they contain the response
 */
export function readJsonAnswer(
  answer: WireAnswer,
  { wire, maxAnswerBytes, maxAnswerValues, held, account, noteUnreadable }: LinkParts,
  take: { messages(list: readonly Message[]): void; failed(reason: BackendFailure): void },
): void {
  const limits = { maxBytes: maxAnswerBytes, deadlines: wire.bodies, holding: { held, account } };
  readBody(answer, limits, (body) => {
    if (typeof body === 'string') {
      take.failed(body);
      return;
    }
    const messages = readAnswer(body, maxAnswerValues);
    if (typeof messages === 'string') {
      noteUnreadable(body.length);
      take.failed(messages);
    } else take.messages(messages);
  });
}
