import type { IncomingMessage } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';
import { isAboutTheRequest } from '../../../client/transports/about-the-request.ts';
import type { Message, RequestMessage } from '../../../mcp/checks/messages.ts';
import type { BackendFailure } from '../backend-errors.ts';
import { readBody } from './answer-body.ts';
import { isEventStream, readEventStream, type StreamPosition } from './event-stream.ts';
import type { Link, LinkFailure, LinkListener, LinkParts } from './link.ts';
import { OwnStream } from './own-stream.ts';
import { isAnswer, isModernError, readAnswer } from './read-answer.ts';
import { failureOfStatus } from './status-failure.ts';
import type { WireFailure } from './wire.ts';

/** A POST on its way. */
interface Post {
  readonly message: Message;
  readonly parameters: readonly string[];
  /** Set where it is a request. */
  readonly id: RequestId | undefined;
  readonly position: StreamPosition;
  /** How often its stream was opened again since something came over it. */
  resumed: number;
  isRepeated: boolean;
  /** Whether it has a place among those under way. */
  hasLane: boolean;
  isOver: boolean;
  /** Ends what runs for it at this moment. */
  stop: (() => void) | undefined;
}

/** Largest body of a refusal that is looked at, in bytes. */
const maxRefusalBytes = 64 * 1024;

/** How often a stream is opened again over which nothing comes. */
const maxResumes = 3;
const firstRetryMs = 1_000;
const longestRetryMs = 300_000;

/** How long the end of a session may take to be heard, in milliseconds. */
const goodbyeMs = 2_000;

/** Requests that change nothing, and may be sent again where it is not known whether the server got them. */
const repeatable =
  /^(?:ping|(?:prompts|resources|tools|resources\/templates)\/list|prompts\/get|resources\/read|completion\/complete)$/;

const sessionIdForm = /^[\x21-\x7e]{1,1024}$/;

/**
 * A session over Streamable HTTP: each message is a POST of its own, answered with JSON or a stream of events.
 * @see MCP 2025-11-25 transports "Streamable HTTP" (B3-02, B3-04, B3-07, B3-09, B3-11, B3-16, B4-03)
 */
export class StreamableHttpLink implements Link {
  readonly kind = 'http';
  readonly #parts: LinkParts;
  readonly #listener: LinkListener;
  readonly #posts = new Set<Post>();
  readonly #byId = new Map<RequestId, Post>();
  readonly #path: string;
  #headers: readonly string[];
  #sessionId: string | undefined;
  #ownStream: OwnStream | undefined;
  /** Messages that wait until the server knows that we are initialized. */
  #held: Post[] | undefined;
  #isLost = false;
  #isClosed = false;

  constructor(parts: LinkParts, listener: LinkListener) {
    this.#parts = parts;
    this.#listener = listener;
    const { pathname, search } = parts.url;
    this.#path = `${pathname}${search}`;
    this.#headers = this.#headersWith([]);
  }

  get isBusy(): boolean {
    return this.#byId.size > 0;
  }

  open(initialize: RequestMessage): void {
    this.send(initialize);
  }

  send(message: Message, parameters: readonly string[] = []): void {
    const isRequest = message.method !== undefined && message.id !== undefined;
    const post: Post = {
      message,
      parameters,
      id: isRequest ? message.id : undefined,
      position: {},
      resumed: 0,
      isRepeated: false,
      hasLane: false,
      isOver: false,
      stop: undefined,
    };
    this.#posts.add(post);
    if (post.id !== undefined) this.#byId.set(post.id, post);
    if (this.#held) this.#hold(post);
    else this.#begin(post);
    // Servers refuse requests that overtake it.
    if (message.method === 'notifications/initialized') this.#held ??= [];
  }

  drop(id: RequestId): void {
    const post = this.#byId.get(id);
    if (!post) return;
    this.#over(post);
    post.stop?.();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ownStream?.close();
    for (const post of [...this.#posts]) {
      this.#over(post);
      post.stop?.();
    }
    if (this.#sessionId !== undefined && !this.#isLost) await this.#sayGoodbye();
  }

  #headersWith(more: readonly string[]): readonly string[] {
    return [
      ...['content-type', 'application/json', 'accept', 'application/json, text/event-stream'],
      ...this.#parts.headers,
      ...more,
    ];
  }

  #hold(post: Post): void {
    if (this.#held && this.#held.length < this.#parts.maxHeld) this.#held.push(post);
    else this.#fail(post, { reason: 'backend_busy' });
  }

  #begin(post: Post): void {
    // What a request waits for may be an answer of ours: only requests wait for a lane.
    if (post.id === undefined) {
      this.#send(post);
      return;
    }
    const go = (): void => {
      post.hasLane = true;
      if (post.isOver) this.#leave(post);
      else this.#send(post);
    };
    if (!this.#parts.lanes.enter(this.#parts.account, go)) this.#fail(post, { reason: 'backend_busy' });
  }

  #send(post: Post): void {
    const { parameters } = post;
    const headers = parameters.length === 0 ? this.#headers : [...this.#headers, ...parameters];
    const body = JSON.stringify(post.message);
    post.stop = this.#parts.wire.send(
      { method: 'POST', path: this.#path, headers, body },
      { head: (answer) => this.#head(post, answer), failed: (failure) => this.#broke(post, failure) },
    );
  }

  #head(post: Post, answer: IncomingMessage): void {
    const { statusCode: status = 0 } = answer;
    if (post.message.method === 'initialize' && !this.#startSession(answer)) {
      answer.destroy();
      this.#fail(post, { reason: 'backend_answer_unreadable' });
      return;
    }
    const isTaken = status >= 200 && status < 300;
    if (isTaken && post.id !== undefined && isEventStream(answer)) this.#readStream(post, answer);
    else if (isTaken && post.id !== undefined) this.#readJson(post, answer);
    else {
      const limits = { maxBytes: maxRefusalBytes, deadlines: this.#parts.wire.bodies };
      post.stop = () => answer.destroy();
      readBody(answer, limits, (body) => {
        if (isTaken) this.#taken(post);
        else this.#refused(post, status, typeof body === 'string' ? Buffer.alloc(0) : body);
      });
    }
  }

  /** @returns whether its id, where it gave one, is one that can be sent back */
  #startSession({ headers }: IncomingMessage): boolean {
    const id = headers['mcp-session-id'];
    if (id === undefined) return true;
    if (typeof id !== 'string' || !sessionIdForm.test(id)) return false;
    this.#sessionId = id;
    return true;
  }

  #readJson(post: Post, answer: IncomingMessage): void {
    const { wire, maxAnswerBytes } = this.#parts;
    post.stop = () => answer.destroy();
    readBody(answer, { maxBytes: maxAnswerBytes, deadlines: wire.bodies }, (body) => {
      if (post.isOver) return;
      if (typeof body === 'string') this.#fail(post, { reason: body });
      else {
        const reason = this.#hear(post, body);
        if (!post.isOver) this.#fail(post, { reason: reason ?? 'backend_answer_unreadable' });
      }
    });
  }

  #readStream(post: Post, answer: IncomingMessage): void {
    post.stop = readEventStream(answer, this.#parts.maxAnswerBytes, post.position, {
      event: ({ type, data }) => {
        post.resumed = 0;
        if (type === 'message') this.#hear(post, data);
      },
      ended: (reason) => {
        if (post.isOver) return;
        if (reason === 'backend_ended') this.#resume(post);
        else this.#fail(post, { reason });
      },
    });
  }

  /** Opens the stream of a request again, where the server said how (B3-09, B4-03). */
  #resume(post: Post): void {
    const { lastEventId, retryMs = firstRetryMs } = post.position;
    if (lastEventId === undefined || ++post.resumed > maxResumes || post.message.method === 'initialize') {
      this.#fail(post, { reason: 'backend_ended' });
      return;
    }
    const timer = setTimeout(
      () => {
        post.stop = this.#parts.wire.send(
          {
            method: 'GET',
            path: this.#path,
            headers: [...this.#headers, 'last-event-id', lastEventId],
          },
          {
            head: (answer) => {
              if (answer.statusCode === 200 && isEventStream(answer)) this.#readStream(post, answer);
              else {
                answer.destroy();
                this.#fail(post, { reason: 'backend_ended' });
              }
            },
            failed: () => this.#resume(post),
          },
        );
      },
      Math.min(retryMs, longestRetryMs),
    ).unref();
    post.stop = () => clearTimeout(timer);
  }

  /** Hands on what came for a request. @returns why it is no message */
  #hear(post: Post, bytes: Uint8Array): BackendFailure | undefined {
    const messages = readAnswer(bytes);
    if (typeof messages === 'string') {
      this.#parts.noteUnreadable(bytes.length);
      return messages;
    }
    for (const message of messages) {
      if (isAnswer(message) && message.id === post.id) this.#answered(post, message);
      this.#listener.hear(message, post.id);
    }
    return undefined;
  }

  #answered(post: Post, { result }: Message & { result?: unknown }): void {
    this.#over(post);
    if (post.message.method !== 'initialize') return;
    const { protocolVersion } = Object(result) as { protocolVersion?: unknown };
    this.#headers = this.#headersWith([
      ...(this.#sessionId === undefined ? [] : ['mcp-session-id', this.#sessionId]),
      ...(typeof protocolVersion === 'string' && sessionIdForm.test(protocolVersion)
        ? ['mcp-protocol-version', protocolVersion]
        : []),
    ]);
  }

  /** The server took what has no answer. */
  #taken(post: Post): void {
    if (post.isOver) return;
    this.#over(post);
    if (post.message.method === 'notifications/initialized') this.#initialized();
  }

  /** The server knows that we are initialized, or never will. */
  #initialized(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (this.#isClosed) return;
    for (const post of held) if (!post.isOver) this.#begin(post);
    this.#ownStream = new OwnStream({
      parts: this.#parts,
      path: this.#path,
      headers: this.#headers,
      hear: (bytes) => {
        const messages = readAnswer(bytes);
        if (typeof messages === 'string') this.#parts.noteUnreadable(bytes.length);
        else for (const message of messages) this.#listener.hear(message);
      },
      sessionGone: () => {
        if (this.#sessionId !== undefined) this.#lost([]);
      },
    });
  }

  #refused(post: Post, status: number, body: Buffer): void {
    if (post.isOver) return;
    const messages = readAnswer(body);
    const answers = typeof messages === 'string' ? [] : messages;
    const own = answers.find((message) => isAnswer(message) && message.id === post.id);
    if (own && post.id !== undefined) {
      this.#over(post);
      this.#listener.hear(own, post.id);
    } else if (this.#saysSessionLost(status, body)) {
      this.#over(post);
      this.#lost([post.message]);
    } else
      this.#fail(post, {
        reason: failureOfStatus(status),
        status,
        mayBeOther: isAboutTheRequest(status) && !answers.some(isModernError),
      });
  }

  /** The sign of a lost session is 404; many servers are made after an example that says it with 400. */
  #saysSessionLost(status: number, body: Buffer): boolean {
    if (this.#sessionId === undefined) return false;
    return status === 404 || (status === 400 && /session/i.test(body.toString('latin1')));
  }

  #lost(unsent: readonly Message[]): void {
    this.#isLost = true;
    this.#ownStream?.close();
    const held = (this.#held ?? []).filter(({ isOver }) => !isOver);
    this.#held = undefined;
    for (const post of held) this.#over(post);
    this.#listener.lost(this, [...unsent, ...held.map(({ message }) => message)]);
  }

  /** There is no answer to a POST. */
  #broke(post: Post, failure: WireFailure): void {
    if (post.isOver) return;
    const { method = '' } = post.message;
    if (failure.isStale && !post.isRepeated && (post.id === undefined || repeatable.test(method))) {
      post.isRepeated = true;
      this.#send(post);
    } else this.#fail(post, failure);
  }

  #fail(post: Post, failure: LinkFailure): void {
    if (post.isOver) return;
    this.#over(post);
    if (post.id !== undefined) this.#listener.failed(post.id, failure);
    else this.#parts.noteFailure(failure);
    if (post.message.method === 'notifications/initialized') this.#initialized();
  }

  #over(post: Post): void {
    if (post.isOver) return;
    post.isOver = true;
    this.#posts.delete(post);
    if (post.id !== undefined) this.#byId.delete(post.id);
    if (post.hasLane) this.#leave(post);
  }

  #leave(post: Post): void {
    post.hasLane = false;
    this.#parts.lanes.leave(this.#parts.account);
  }

  /** Tells the server that the session ends, and does not wait for long (B3-11). */
  #sayGoodbye(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const drop = this.#parts.wire.send(
      { method: 'DELETE', path: this.#path, headers: this.#headers },
      {
        head(answer) {
          answer.resume();
          resolve();
        },
        failed: () => resolve(),
      },
    );
    const timer = setTimeout(() => {
      drop();
      resolve();
    }, goodbyeMs);
    return promise.finally(() => clearTimeout(timer));
  }
}
