import type { RequestId } from '@modelcontextprotocol/server';
import type { Message } from '../protocol.ts';

/** Milliseconds before the first progress notification about a start, and between the next ones. */
const firstMs = 1000;
const againMs = 5000;

/**
 * Progress of a millisecond: so small that the server's own next value is larger. It depends on the time, because
 * progress may only grow, and one request may wait for several starts in turn.
 */
const perMs = 1e-13;

/**
 * Sends progress notifications about a starting server to callers with a progress token: after one second, and then
 * every five.
 * @see MCP 2025-11-25 "Progress"
 */
export class StartProgress {
  readonly #message: string;
  readonly #send: (notification: Message) => void;
  readonly #firstMs: number;
  readonly #tokens = new Map<RequestId, RequestId>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param message text of the notifications
   * @param afterMs time that requests have waited before they are added, in milliseconds
   */
  constructor(message: string, send: (notification: Message) => void, afterMs = 0) {
    this.#message = message;
    this.#send = send;
    this.#firstMs = Math.max(0, firstMs - afterMs);
  }

  /** Adds a waiting request. */
  add({ id, params }: Message): void {
    const { progressToken } = (params?._meta ?? {}) as { progressToken?: RequestId };
    if (id === undefined || progressToken === undefined) return;
    this.#tokens.set(id, progressToken);
    this.#timer ??= setTimeout(() => this.#tell(), this.#firstMs).unref();
  }

  /** Ends the notifications for the sender of this request. */
  remove(id: RequestId): void {
    this.#tokens.delete(id);
  }

  /** The server has started, or failed to. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tokens.clear();
  }

  #tell(): void {
    const progress = performance.now() * perMs;
    for (const progressToken of this.#tokens.values())
      this.#send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress, message: this.#message },
      });
    this.#timer = setTimeout(() => this.#tell(), againMs).unref();
  }
}
