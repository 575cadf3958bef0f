import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import { type Refusal, sendRefusal } from '../http/refusal.ts';
import { CollectedAnswers, errorAnswer, hasRepeatedId } from '../legacy/collected-answers.ts';
import {
  type Conversation,
  type Conversations,
  type Frames,
  type InitializeParams,
  type JsonRpcError,
  type Listener,
  type Message,
  type RequestMessage,
  revisionWithBatches,
  type Sender,
} from '../protocol.ts';
import { readInitialize } from '../reading/messages.ts';
import type { StdioConnection, WriteLine } from './lines.ts';

/** Options of the connection. */
export interface LegacyConnectionOptions {
  conversations: Conversations;
  write: WriteLine;
  /** The server ended the conversation. */
  onEnded(): void;
  authInfo?: AuthInfo;
  logger: Logger;
}

const notInitialized: JsonRpcError = {
  code: errorCodes.invalidRequest,
  message: 'Invalid request: send initialize first.',
};
const initializedBefore: JsonRpcError = {
  code: errorCodes.invalidRequest,
  message: 'Invalid request: this connection is initialized already.',
};
const notStarted: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The MCP server could not be started.',
};

/**
 * The revisions up to 2025-11-25 on a stdio connection: one conversation, which `initialize` begins. The answers to
 * a batch of 2025-03-26 are one line (B1-04, C1-02).
 * @see MCP 2025-11-25 "Lifecycle" and transports "stdio"
 */
export class LegacyConnection implements StdioConnection {
  readonly #options: LegacyConnectionOptions;
  readonly #sender: Sender;
  /** Running requests -> their batch. */
  readonly #running = new Map<RequestId, CollectedAnswers | undefined>();
  #conversation: Conversation | undefined;
  #revision: string | undefined;
  #isEnded = false;

  constructor(options: LegacyConnectionOptions) {
    this.#options = options;
    this.#sender = options.authInfo ? { authInfo: options.authInfo } : {};
  }

  async take(messages: Frames): Promise<void> {
    const refusal = this.#check(messages);
    if (refusal) {
      sendRefusal(refusal, { json: (_status, body) => this.#options.write(body as Message) });
      return;
    }
    const batch = messages.isBatch ? new CollectedAnswers(messages.requests) : undefined;
    for (const { id } of messages.requests) this.#running.set(id, batch);
    for (const message of messages.list) {
      if (message.method === 'initialize') await this.#initialize(message as RequestMessage);
      else this.#say(message);
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#conversation?.end();
  }

  #check({ isBatch, requests }: Frames): Refusal | undefined {
    const [first] = isBatch ? [] : requests;
    const about = first ? { id: first.id } : {};
    if (isBatch && this.#revision !== revisionWithBatches) return { reason: 'batch_not_in_this_revision' };
    if (hasRepeatedId(requests) || requests.some(({ id }) => this.#running.has(id)))
      return { reason: 'request_id_in_use', ...about };
    if (first?.method === 'initialize' && !readInitialize(first))
      return { reason: 'initialize_incomplete', ...about };
    return undefined;
  }

  async #initialize({ id, params }: RequestMessage): Promise<void> {
    if (this.#conversation) {
      this.#answer(errorAnswer(id, initializedBefore));
      return;
    }
    const { conversations, logger } = this.#options;
    const opening = await conversations
      .open(params as InitializeParams, this.#sender, this.#listener())
      .catch((error: unknown) => {
        logger.error({ err: error }, 'the MCP server could not be started');
        return { error: notStarted };
      });
    if ('error' in opening) {
      this.#answer(errorAnswer(id, opening.error));
      return;
    }
    if (this.#isEnded) {
      await opening.conversation.end();
      return;
    }
    this.#conversation = opening.conversation;
    this.#revision = opening.result.protocolVersion;
    this.#answer({ jsonrpc: '2.0', id, result: opening.result } as Message);
  }

  #say(message: Message): void {
    const { id, method, params } = message;
    if (this.#conversation) {
      this.#conversation.say(message, this.#sender);
      if (method === 'notifications/cancelled') this.#cancelled(params?.requestId as RequestId);
    } else if (id !== undefined && method !== undefined) {
      // Before initialize the client may ping (C2-03).
      const pong = { jsonrpc: '2.0', id, result: {} } as Message;
      this.#answer(method === 'ping' ? pong : errorAnswer(id, notInitialized));
    }
  }

  #listener(): Listener {
    return {
      hear: (message) => {
        if (this.#isEnded) return;
        if (message.method === undefined) this.#answer(message);
        else this.#options.write(message);
      },
      ended: () => this.#options.onEnded(),
    };
  }

  /** Writes a response, with the others of its batch. Cancelled requests get none (C6-01). */
  #answer(answer: Message): void {
    const { id } = answer;
    if (id === undefined || !this.#running.has(id)) return;
    const batch = this.#running.get(id);
    this.#running.delete(id);
    if (!batch) this.#options.write(answer);
    else if (batch.take(answer) && batch.isComplete) this.#options.write(batch.list());
  }

  #cancelled(id: RequestId): void {
    const batch = this.#running.get(id);
    if (!this.#running.delete(id) || !batch) return;
    batch.drop(id);
    const answers = batch.isComplete ? batch.list() : [];
    if (answers.length > 0) this.#options.write(answers);
  }
}
