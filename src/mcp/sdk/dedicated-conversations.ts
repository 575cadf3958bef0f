import type { RequestId } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import {
  type ChangeRelay,
  type Conversation,
  type Conversations,
  type InitializeParams,
  type InitializeResult,
  isBelow,
  isElsewhere,
  isLogLevel,
  type JsonRpcError,
  type Listener,
  type LogLevel,
  type McpLike,
  type Message,
  noSuchLevel,
  type Opening,
  type RequestMessage,
  type Sender,
  type ServerSource,
} from '../protocol.ts';
import { MultiplexedTransport } from './multiplexed-transport.ts';
import {
  type ClientAbilities,
  checkAbility,
  checkAnswered,
  readAbilities,
  withServedRevision,
} from './negotiation.ts';
import { type Participant, type PendingCall, type ResponseMessage, uniqueId } from './participants.ts';
import { requireNewServer } from './server-factory.ts';

/** Options of conversations. */
export interface ConversationsOptions {
  source: ServerSource;
  /** Carries changes of shared servers to other nodes; absent if there are none. */
  relay?: ChangeRelay | undefined;
  logger: Logger;
}

const initializedAlready: JsonRpcError = {
  code: errorCodes.invalidRequest,
  message: 'Invalid request: this session is initialized already. Start a new one for another initialize.',
};
const notInitialized: JsonRpcError = {
  code: errorCodes.invalidRequest,
  message: 'Invalid request: the client cannot be asked before initialize was answered.',
};

/** A conversation with a server of its own. */
class DedicatedConversation implements Conversation, Participant {
  readonly server: McpLike;
  readonly sessionId = uniqueId();
  readonly calls = new InFlightMap<number, PendingCall>();
  readonly #line: MultiplexedTransport;
  readonly #listener: Listener;
  readonly #logger: Logger;
  readonly #onEnd: (conversation: DedicatedConversation) => void;
  /** Undefined if the opener itself checks the client's capabilities. */
  readonly #abilities: ClientAbilities | undefined;
  #state: 'opening' | 'open' | 'ended' = 'opening';
  #level: LogLevel | undefined;
  #hasLogs = false;

  constructor(
    server: McpLike,
    abilities: ClientAbilities | undefined,
    listener: Listener,
    { source, logger }: ConversationsOptions,
    onEnd: (conversation: DedicatedConversation) => void,
  ) {
    this.server = server;
    this.#abilities = abilities;
    this.#listener = listener;
    this.#logger = logger;
    this.#onEnd = onEnd;
    this.#line = new MultiplexedTransport({
      sole: this,
      isElsewhere: isElsewhere(source),
      announce: (notification) => this.hear(notification),
      onClose: () => this.#serverClosed(),
      logger,
    });
  }

  /** Sends the server `initialize`. */
  async begin(initialize: InitializeParams, sender: Sender): Promise<Opening> {
    const { result, error } = await this.#line.open(this.server, withServedRevision(initialize), sender);
    if (error) return { error };
    const initialized = result as InitializeResult;
    const notServed = checkAnswered(initialized);
    if (notServed) return { error: notServed };
    this.#state = 'open';
    this.#hasLogs = initialized.capabilities.logging !== undefined;
    return { conversation: this, result: initialized };
  }

  say(message: Message, sender: Sender): void {
    if (this.#state !== 'open') return;
    if (message.method === undefined) this.#line.answer(this, message);
    else if (message.id === undefined) this.#line.notify(this, message, sender);
    else this.#request(message as RequestMessage, sender);
  }

  async end(): Promise<void> {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#onEnd(this);
    try {
      await this.server.close();
    } catch (error) {
      this.#logger.warn({ err: error }, 'an MCP server failed to close');
    }
  }

  hear(message: Message, relatedTo?: RequestId): void {
    if (this.#state === 'open' && !isBelow(this.#level, message)) this.#listener.hear(message, relatedTo);
  }

  checkRequest(request: RequestMessage): JsonRpcError | undefined {
    if (this.#state !== 'open') return notInitialized;
    return this.#abilities && checkAbility(this.#abilities, request);
  }

  #request(request: RequestMessage, sender: Sender): void {
    const { id, method, params } = request;
    if (method === 'initialize') this.#refuse(id, initializedAlready);
    // Both versions of the SDK report an unknown level as an internal error.
    else if (method === 'logging/setLevel' && this.#hasLogs && !isLogLevel(params?.level))
      this.#refuse(id, noSuchLevel);
    else {
      if (method === 'logging/setLevel' && isLogLevel(params?.level)) this.#level = params.level;
      this.#line.call(this, request, sender);
    }
  }

  #refuse(id: RequestId, error: JsonRpcError): void {
    const answer: ResponseMessage = { jsonrpc: '2.0', id, error };
    queueMicrotask(() => this.hear(answer));
  }

  #serverClosed(): void {
    const wasOpen = this.#state === 'open';
    this.#state = 'ended';
    this.#onEnd(this);
    if (wasOpen) this.#listener.ended();
  }
}

/**
 * Creates conversations with a server of their own, made for the caller who opened them. That server answers
 * `initialize`.
 */
export function createDedicatedConversations(options: ConversationsOptions): Conversations {
  const conversations = new InFlightMap<string, DedicatedConversation>();
  const forget = (ended: DedicatedConversation): void => {
    conversations.delete(ended.sessionId);
  };

  return {
    async open(initialize, sender, listener) {
      const { authInfo } = sender;
      const made = await options.source.create({ era: 'legacy', ...(authInfo && { authInfo }) });
      const abilities = sender.answersUndeclared ? undefined : readAbilities(Object(initialize.capabilities));
      const conversation = new DedicatedConversation(
        requireNewServer(made),
        abilities,
        listener,
        options,
        forget,
      );
      conversations.set(conversation.sessionId, conversation);
      try {
        const opening = await conversation.begin(initialize, sender);
        if ('error' in opening) await conversation.end();
        return opening;
      } catch (error) {
        await conversation.end();
        throw error;
      }
    },
    async close() {
      await Promise.all(conversations.values().map((conversation) => conversation.end()));
    },
  };
}
