import {
  type JSONRPCMessage,
  type RequestId,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** Requests that came in one POST and share its stream. */
interface Post {
  waiting: Set<RequestId>;
  cancelled: Set<RequestId>;
}

/**
 * The SDK's transport of a session, which also knows which requests are being answered. So an id cannot be used
 * twice at once and lose an answer (T-142), and the stream of a cancelled request ends, which the SDK would hold
 * open for an answer that never comes.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  /** The revision agreed on at initialize. */
  protocolVersion: string | undefined;
  readonly #posts = new Map<RequestId, Post>();

  /** Whether a request is being answered. */
  get isAnswering(): boolean {
    return this.#posts.size > 0;
  }

  /**
   * Takes note of the requests of a POST before they are handed on.
   * @returns false where an id is in use already, or twice in this POST; then nothing was noted
   */
  begin(ids: readonly RequestId[]): boolean {
    if (new Set(ids).size < ids.length || ids.some((id) => this.#posts.has(id))) return false;
    const post: Post = { waiting: new Set(ids), cancelled: new Set() };
    for (const id of ids) this.#posts.set(id, post);
    return true;
  }

  /** Forgets requests that were refused and will not be answered. */
  forget(ids: readonly RequestId[]): void {
    for (const id of ids) this.#posts.delete(id);
  }

  /**
   * Gives up on a request its sender cancelled: nothing more is sent for it.
   * @see MCP "Cancellation" (T-141)
   */
  async cancel(id: RequestId): Promise<void> {
    const post = this.#posts.get(id);
    if (!post?.waiting.delete(id)) return;
    post.cancelled.add(id);
    await this.#endWhenNothingWaits(post);
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const id = 'method' in message ? undefined : message.id;
    if ('result' in message && typeof message.result.protocolVersion === 'string')
      this.protocolVersion ??= message.result.protocolVersion;
    try {
      await super.send(message, options);
    } finally {
      const post = id === undefined ? undefined : this.#posts.get(id);
      if (post && id !== undefined) {
        this.#posts.delete(id);
        post.waiting.delete(id);
        await this.#endWhenNothingWaits(post);
      }
    }
  }

  async #endWhenNothingWaits({ waiting, cancelled }: Post): Promise<void> {
    if (waiting.size > 0) return;
    for (const id of cancelled) {
      this.closeSSEStream(id);
      this.#posts.delete(id);
      // With its stream closed this reaches nobody; it makes the SDK drop what it keeps for the request.
      await super.send({ jsonrpc: '2.0', id, error: { code: -32000, message: 'cancelled' } });
    }
    cancelled.clear();
  }
}
