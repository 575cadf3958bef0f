import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { vi } from 'vitest';
import type { McpLike, RequestMessage } from '../../../../src/mcp/protocol.ts';
import type { Heard } from '../../../mcp/sdk/support/talk.ts';

/** What a server answers to each method by itself; undefined leaves it to the test. */
export type Answers = Record<string, (request: RequestMessage) => object | undefined>;

/** A server of the legacy era that a test answers for: it shows what arrives, in order. */
export class RawServer implements McpLike {
  readonly heard: Heard[] = [];
  readonly #answers: Answers;
  #transport: Transport | undefined;

  constructor(answers: Answers = {}) {
    this.#answers = { initialize, ...answers };
  }

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message) => this.#take(message as Heard);
    await transport.start();
  }

  async close(): Promise<void> {
    await this.#transport?.close();
  }

  say(message: object): void {
    void this.#transport?.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  }

  /** The next message that fits, now or later. */
  async hears(fits: (message: Heard) => boolean): Promise<Heard> {
    await vi.waitUntil(() => this.heard.some(fits), { timeout: 3000, interval: 1 });
    return this.heard.find(fits) as Heard;
  }

  /** Requests of a method that arrived. */
  requests(method: string): RequestMessage[] {
    return this.heard.filter((message) => message.method === method) as RequestMessage[];
  }

  #take(message: Heard): void {
    this.heard.push(message);
    if (message.method === undefined || message.id === undefined) return;
    const content = this.#answers[message.method]?.(message as RequestMessage);
    if (content) queueMicrotask(() => this.say({ id: message.id, ...content }));
  }
}

function initialize(): object {
  return {
    result: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'raw', version: '1' },
    },
  };
}
