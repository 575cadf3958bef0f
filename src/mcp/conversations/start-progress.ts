import type { RequestId } from '@modelcontextprotocol/server';
import type { Message } from '../checks/messages.ts';

/** When those who wait for a start are told of it, and how often again, in milliseconds. */
const firstMs = 1000;
const againMs = 5000;

/** So small that what the server itself tells next is more: progress may only grow. */
const step = 1e-6;

/**
 * Tells those who wait for a server to start that it starts, where they gave a progress token: after a second, and
 * every five again.
 * @see MCP 2025-11-25 "Progress"
 */
export class StartProgress {
  readonly #message: string;
  readonly #send: (notification: Message) => void;
  readonly #tokens = new Map<RequestId, RequestId>();
  #timer: NodeJS.Timeout | undefined;
  #told = 0;

  /** @param message says what they wait for */
  constructor(message: string, send: (notification: Message) => void) {
    this.#message = message;
    this.#send = send;
  }

  /** Somebody waits from now on. */
  add({ id, params }: Message): void {
    const { progressToken } = (params?._meta ?? {}) as { progressToken?: RequestId };
    if (id === undefined || progressToken === undefined) return;
    this.#tokens.set(id, progressToken);
    this.#timer ??= setTimeout(() => this.#tell(), firstMs).unref();
  }

  /** Who sent this request waits no more. */
  remove(id: RequestId): void {
    this.#tokens.delete(id);
  }

  /** It has started, or will not. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tokens.clear();
    this.#told = 0;
  }

  #tell(): void {
    const progress = ++this.#told * step;
    for (const progressToken of this.#tokens.values())
      this.#send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress, message: this.#message },
      });
    this.#timer = setTimeout(() => this.#tell(), againMs).unref();
  }
}
