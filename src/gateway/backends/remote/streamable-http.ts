import type { Message } from '../../../mcp/protocol.ts';
import type { BackendFailure } from '../backend-errors.ts';
import type { WireAnswer } from './answer-body.ts';
import { eventLimits, isEventStream, readEventStream, type StreamPosition } from './event-stream.ts';
import { isAnswer, type LinkListener, type LinkParts } from './link.ts';
import { type Post, PostingLink, readJsonAnswer } from './posting-link.ts';

/** The stream with the response to a request. */
interface AnswerStream {
  readonly position: StreamPosition;
  /** Number of reopenings since its last data. */
  resumed: number;
}

/** Maximum number of reopenings without data. */
const maxResumes = 3;
const firstRetryMs = 1_000;
const longestRetryMs = 300_000;

/**
 * Maximum time that requests wait for the stream of a session, in milliseconds: some servers send its head only with
 * the first event.
 */
const ownStreamMs = 500;

/** Maximum time for the end of a session, in milliseconds. */
const goodbyeMs = 1_000;

/** Form of values that may be sent back as a header: session ids and revisions. */
const headerForm = /^[\x21-\x7e]{1,1024}$/;

/**
 * A session over Streamable HTTP: each message is a POST of its own, answered with JSON or a stream of events.
 * @see MCP 2025-11-25 transports "Streamable HTTP" (B3-02, B3-04, B3-07, B3-09, B3-11, B3-16, B4-03)
 */
export class StreamableHttpLink extends PostingLink {
  readonly kind = 'http';
  readonly #path: string;
  /** Headers with the session id and the revision. */
  #sessionHeaders: readonly string[] = [];
  #sessionId: string | undefined;
  #ownStream: OwnStream | undefined;
  #isLost = false;

  constructor(parts: LinkParts, listener: LinkListener) {
    super(parts, listener);
    const { pathname, search } = parts.url;
    this.#path = `${pathname}${search}`;
  }

  protected path(): string {
    return this.#path;
  }

  protected headers(post?: Post): readonly string[] {
    return [
      ...['content-type', 'application/json', 'accept', 'application/json, text/event-stream'],
      ...this.ownHeaders(post),
      ...this.#sessionHeaders,
    ];
  }

  protected answered(post: Post, answer: WireAnswer): void {
    if (isEventStream(answer)) {
      this.#readStream(post, { position: {}, resumed: 0 }, answer);
      return;
    }
    readJsonAnswer(answer, this.parts, {
      messages: (list) => {
        this.#hear(post, list);
        this.fail(post, { reason: 'backend_answer_unreadable' });
      },
      failed: (reason) => this.fail(post, { reason }),
    });
  }

  protected override checkHead({ message }: Post, { headers }: WireAnswer): BackendFailure | undefined {
    const id = headers.get('mcp-session-id');
    if (message.method !== 'initialize' || id === undefined) return undefined;
    if (!headerForm.test(id)) return 'backend_answer_unreadable';
    this.#sessionId = id;
    return undefined;
  }

  get hasSession(): boolean {
    return this.#sessionId !== undefined;
  }

  /** A lost session has status 404; some servers send 410, and many 400, like a well-known example. */
  protected override isSessionLost(status: number, body: Buffer): boolean {
    if (this.#sessionId === undefined) return false;
    if (status === 404 || status === 410) return true;
    return (status === 400 || status === 503) && /session/i.test(body.toString('latin1'));
  }

  protected override lost(unsent: readonly Message[]): void {
    this.#isLost = true;
    this.#ownStream?.close();
    super.lost(unsent);
  }

  /** Waits for the stream of the session, because servers drop messages for a stream that is not open yet. */
  protected override initialized(goOn: () => void): void {
    let isWaiting = true;
    const settled = (): void => {
      clearTimeout(timer);
      if (isWaiting) goOn();
      isWaiting = false;
    };
    const timer = setTimeout(settled, ownStreamMs);
    this.#ownStream = new OwnStream({
      settled,
      parts: this.parts,
      path: this.#path,
      headers: () => this.headers(),
      hear: (data) => {
        for (const message of this.readEvent(data)) this.listener.hear(message);
      },
      sessionGone: () => {
        if (this.#sessionId !== undefined) this.lost([]);
      },
    });
  }

  /** Tells the server that the session ends, and waits only briefly (B3-11). */
  protected async end(): Promise<void> {
    this.#ownStream?.close();
    if (this.#sessionId === undefined || this.#isLost) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const drop = this.parts.wire.send(
      { method: 'DELETE', path: this.#path, headers: this.headers() },
      {
        head: () => resolve(),
        failed: () => resolve(),
      },
    );
    const timer = setTimeout(() => {
      drop();
      resolve();
    }, goodbyeMs);
    await promise;
    clearTimeout(timer);
  }

  #readStream(post: Post, stream: AnswerStream, answer: WireAnswer): void {
    post.stop = readEventStream(answer, eventLimits(this.parts), stream.position, {
      event: ({ type, data }) => {
        stream.resumed = 0;
        if (type === 'message') this.#hear(post, this.readEvent(data));
      },
      ended: (reason) => {
        if (post.isOver) return;
        if (reason === 'backend_ended') this.#resume(post, stream);
        else this.fail(post, { reason });
      },
    });
  }

  /** Reopens the stream of a request if the server named an event id (B3-09, B4-03). */
  #resume(post: Post, stream: AnswerStream): void {
    if (post.isOver) return;
    const { lastEventId, retryMs = firstRetryMs } = stream.position;
    if (lastEventId === undefined || ++stream.resumed > maxResumes || post.message.method === 'initialize') {
      this.fail(post, { reason: 'backend_ended' });
      return;
    }
    const open = (): void => {
      if (post.isOver) return;
      const headers = [...this.headers(post), 'last-event-id', lastEventId];
      post.stop = this.parts.wire.send(
        { method: 'GET', path: this.#path, headers },
        {
          head: (answer) => {
            if (answer.status === 200 && isEventStream(answer)) this.#readStream(post, stream, answer);
            else {
              answer.drop();
              this.fail(post, { reason: 'backend_ended' });
            }
          },
          failed: () => this.#resume(post, stream),
        },
      );
    };
    const timer = setTimeout(open, Math.min(retryMs, longestRetryMs)).unref();
    post.stop = () => clearTimeout(timer);
  }

  /** Passes on the messages that came for a request. */
  #hear(post: Post, messages: readonly Message[]): void {
    const own = this.answerOf(post, messages);
    for (const message of messages) {
      if (message !== own) {
        // What answers another request here would give it what was said about this one (T-218).
        if (!isAnswer(message)) this.listener.hear(message, post.id);
        continue;
      }
      if (post.message.method === 'initialize') this.#begun(message);
      this.over(post);
      const { id = message.id } = post;
      this.listener.hear(id === undefined || id === message.id ? message : { ...message, id }, id);
    }
  }

  #begun({ result }: Message & { result?: unknown }): void {
    const { protocolVersion } = Object(result) as { protocolVersion?: unknown };
    const hasVersion = typeof protocolVersion === 'string' && headerForm.test(protocolVersion);
    this.#sessionHeaders = [
      ...(this.#sessionId === undefined ? [] : ['mcp-session-id', this.#sessionId]),
      ...(hasVersion ? ['mcp-protocol-version', protocolVersion] : []),
    ];
  }
}

/** Options of the stream of a session. */
interface OwnStreamOptions {
  parts: LinkParts;
  path: string;
  /** Returns the headers of the session. */
  headers: () => readonly string[];
  /** Takes the data of an event. */
  hear(data: Buffer): void;
  /** The server has no such session any more. */
  sessionGone(): void;
  /** Called whenever it is known if the stream is open. */
  settled(): void;
}

const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

/**
 * The stream of a session for messages that belong to no request. Servers need not have one. When it ends, it is
 * reopened after its last event; the pauses grow while nothing comes.
 * @see MCP 2025-11-25 transports "Listening for Messages from the Server" (B3-07, B3-09, B4-03)
 */
class OwnStream {
  readonly #options: OwnStreamOptions;
  readonly #position: StreamPosition = {};
  #stop: (() => void) | undefined;
  #waitMs = firstWaitMs;
  #wasOpen = false;
  #hasPlace = false;
  #isClosed = false;

  /** Opens the stream. If too many are open already, the session works without one. */
  constructor(options: OwnStreamOptions) {
    this.#options = options;
    const { streams, account } = options.parts;
    this.#hasPlace = streams.tryEnter([account]);
    if (this.#hasPlace) this.#open();
    else {
      options.parts.noteFailure({ reason: 'backend_busy', full: 'streams' });
      options.settled();
    }
  }

  /** Closes the stream. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#hasPlace) this.#options.parts.streams.leave([this.#options.parts.account]);
    this.#stop?.();
  }

  #open(): void {
    const { parts, path, headers } = this.#options;
    const { lastEventId } = this.#position;
    const behind = lastEventId === undefined ? [] : ['last-event-id', lastEventId];
    this.#stop = parts.wire.send(
      { method: 'GET', path, headers: [...headers(), ...behind] },
      {
        head: (answer) => {
          this.#head(answer);
          this.#options.settled();
        },
        failed: () => {
          this.#again();
          this.#options.settled();
        },
      },
    );
  }

  #head(answer: WireAnswer): void {
    const { status } = answer;
    if (status === 200 && isEventStream(answer)) {
      this.#wasOpen = true;
      this.#stop = readEventStream(answer, eventLimits(this.#options.parts), this.#position, {
        event: ({ type, data }) => {
          this.#waitMs = firstWaitMs;
          if (type === 'message') this.#options.hear(data);
        },
        ended: () => this.#again(),
      });
      return;
    }
    answer.drop();
    // Some answer 404 to every GET: it is about the session only where a stream of it was open.
    if ((status === 404 || status === 410) && this.#wasOpen) {
      this.close();
      this.#options.sessionGone();
    } else if (status >= 500 || status === 429) this.#again();
    else this.close();
  }

  #again(): void {
    if (this.#isClosed) return;
    const { retryMs } = this.#position;
    const asked = Math.min(retryMs ?? firstWaitMs, longestWaitMs);
    const waitMs = this.#waitMs === firstWaitMs ? asked : Math.max(asked, this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs);
    const timer = setTimeout(() => this.#open(), waitMs).unref();
    this.#stop = () => clearTimeout(timer);
  }
}
