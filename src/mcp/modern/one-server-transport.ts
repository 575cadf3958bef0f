import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  PerRequestHTTPServerTransport,
  type RequestId,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import type { McpLike } from '../sdk/mcp-like.ts';
import { modernRevision } from './envelope.ts';

/** Context that the server gets with every message. */
export const classification = { era: 'modern', revision: modernRevision } as const;

/** Takes one message of a server; `relatedTo` is the id of the request during which it was sent, if it is known. */
export type Hear = (message: JSONRPCMessage, relatedTo?: RequestId) => void;

/**
 * A transport for all requests of a server. The SDK binds a server to 2026-07-28 when it is connected to a transport of
 * the class this one extends; messages are then handed over as to any other transport.
 */
export class OneServerTransport extends PerRequestHTTPServerTransport {
  readonly #hear: Hear;
  #onEnd: (() => void) | undefined;

  /** @param onEnd called once, when the server or we ended the connection */
  constructor(hear: Hear, onEnd: () => void) {
    super({ classification });
    this.#hear = hear;
    this.#onEnd = onEnd;
  }

  /** Has a server hear the messages. @throws what its `connect` throws */
  async open(server: McpLike): Promise<void> {
    await server.connect(this);
  }

  /** Hands the server a message. */
  deliver(message: JSONRPCMessage, extra: MessageExtraInfo = { classification }): void {
    this.onmessage?.(message, extra);
  }

  override async start(): Promise<void> {}

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#hear(message, options?.relatedRequestId);
  }

  override async close(): Promise<void> {
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    if (!onEnd) return;
    this.onclose?.();
    onEnd();
  }
}
