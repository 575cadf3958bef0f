import type { Message, RequestMessage } from '../../../mcp/protocol.ts';
import { isAboutTheRequest } from '../../../oauth/mcp-error-codes.ts';
import type { WireAnswer } from './answer-body.ts';
import { eventLimits, isEventStream, readEventStream } from './event-stream.ts';
import { failureOfStatus, isAnswer, type LinkFailure } from './link.ts';
import { type Post, PostingLink } from './posting-link.ts';
import { redirectTarget } from './wire.ts';

/** Maximum time until the server names the address for messages, in milliseconds. */
const endpointMs = 10_000;

/**
 * A session over the old HTTP+SSE: one stream for all messages of the server, and a URL of the same origin for messages
 * to it.
 * @see MCP 2024-11-05 transports "HTTP with SSE" (B2-01, B2-02, B2-03)
 */
export class EventStreamLink extends PostingLink {
  readonly kind = 'sse';
  readonly hasSession = true;
  #initialize: Post['message'] | undefined;
  #endpoint: string | undefined;
  #hasPlace = false;
  #stop: (() => void) | undefined;
  #late: NodeJS.Timeout | undefined;

  override open(initialize: RequestMessage): void {
    this.#initialize = initialize;
    const { wire, streams, account, url } = this.parts;
    this.#hasPlace = streams.tryEnter([account]);
    if (!this.#hasPlace) {
      // As an answer comes: later.
      queueMicrotask(() => this.#failed({ reason: 'backend_busy', full: 'streams' }));
      return;
    }
    this.#stop = wire.send(
      {
        method: 'GET',
        path: `${url.pathname}${url.search}`,
        headers: ['accept', 'text/event-stream', ...this.ownHeaders()],
      },
      { head: (answer) => this.#head(answer), failed: (failure) => this.#failed(failure) },
    );
  }

  protected path(): string {
    return this.#endpoint ?? '/';
  }

  protected headers(post?: Post): readonly string[] {
    return ['content-type', 'application/json', 'accept', 'application/json', ...this.ownHeaders(post)];
  }

  /** Ignores the HTTP response, because the MCP response comes over the stream. */
  protected answered(): void {}

  protected override isSessionLost(status: number): boolean {
    return (status === 404 || status === 410) && this.#initialize === undefined;
  }

  protected override lost(unsent: readonly Message[]): void {
    this.end();
    // Their answers would have come over the stream.
    for (const post of this.requests) if (post.hasLane) this.cut(post, { reason: 'backend_ended' });
    super.lost(unsent);
  }

  protected end(): void {
    clearTimeout(this.#late);
    this.#stop?.();
    this.#stop = undefined;
    if (this.#hasPlace) this.parts.streams.leave([this.parts.account]);
    this.#hasPlace = false;
  }

  #head(answer: WireAnswer): void {
    const { status } = answer;
    if (status !== 200 || !isEventStream(answer)) {
      answer.drop();
      const reason = status < 300 ? 'backend_answer_unreadable' : failureOfStatus(status);
      this.#failed({ reason, status, mayBeOther: status < 300 || isAboutTheRequest(status) });
      return;
    }
    this.#late = setTimeout(
      () => this.#failed({ reason: 'backend_timed_out', mayBeOther: true }),
      endpointMs,
    );
    this.#stop = readEventStream(
      answer,
      eventLimits(this.parts),
      {},
      {
        event: ({ type, data }) => {
          if (type === 'endpoint') this.#found(data.toString('utf8'));
          else if (type === 'message') this.#hear(data);
        },
        ended: (reason) => this.#ended({ reason }),
      },
    );
  }

  /** Takes the address for messages. An address of another origin is rejected (B2-02, T-157). */
  #found(endpoint: string): void {
    if (this.#endpoint !== undefined || !this.#initialize) return;
    const { url } = this.parts;
    const target = URL.parse(endpoint, url.href);
    if (target?.origin !== url.origin) {
      this.#failed({ reason: 'backend_endpoint_elsewhere', location: redirectTarget(endpoint, url) });
      return;
    }
    clearTimeout(this.#late);
    this.#endpoint = `${target.pathname}${target.search}`;
    this.send(this.#initialize);
  }

  #hear(data: Buffer): void {
    for (const message of this.readEvent(data)) {
      const post = isAnswer(message) ? this.requestWith(message.id) : undefined;
      if (post?.message.method === 'initialize') this.#initialize = undefined;
      if (post) this.over(post);
      this.listener.hear(message);
    }
  }

  #ended(failure: LinkFailure): void {
    if (this.isClosed) return;
    if (this.#initialize) this.#failed(failure);
    else {
      if (failure.reason !== 'backend_ended')
        for (const post of this.requests) if (post.hasLane) this.fail(post, failure);
      this.lost([]);
    }
  }

  /** The session could not be started. */
  #failed(failure: LinkFailure): void {
    const initialize = this.#initialize;
    this.#initialize = undefined;
    this.end();
    const post = this.requestWith(initialize?.id);
    if (post) this.fail(post, failure);
    else if (initialize?.id !== undefined && !this.isClosed) this.listener.failed(initialize.id, failure);
  }
}
