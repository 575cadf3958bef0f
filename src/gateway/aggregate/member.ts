import type { RequestId } from '@modelcontextprotocol/server';
import type {
  Conversation,
  Conversations,
  InitializeParams,
  InitializeResult,
  JsonRpcError,
  Message,
  Sender,
} from '../../mcp/protocol.ts';
import { backendError } from '../backends/backend-errors.ts';

/** One of several backends, as all conversations with it have it. */
export interface MemberBackend {
  key: string;
  /** Name in errors and in the log. */
  name: string;
  conversations: Conversations;
  /** Its capabilities when it was last reached. */
  known?: Record<string, unknown>;
}

/** Takes what comes of a backend. */
export interface MemberListener {
  /**
   * Takes what it says.
   * @param relatedTo id of the request during which it was said, if that is known
   */
  hear(member: Member, message: Message, relatedTo: RequestId | undefined): void;
  /** It was missing from an answer, and is there now. */
  cameBack(member: Member): void;
  /** Its conversation ended: what it was asked is not answered any more. */
  ended(member: Member): void;
  /** It was tried without anybody asking, and an error stands in its way. */
  noteError(member: Member, error: unknown): void;
}

/** Options of a conversation with a backend. */
export interface Beginning {
  initialize: InitializeParams;
  sender: Sender;
}

/** Milliseconds until a missing backend is tried again; doubled each time. */
const firstRetryMs = 1000;
const longestRetryMs = 60_000;

/** Milliseconds that a conversation must last for the next failure to count as the first. */
const steadyMs = 60_000;

/** The part that one backend has in a conversation with several: begun when it is needed, and again after it ended. */
export class Member {
  readonly backend: MemberBackend;
  readonly subscribed = new Set<string>();
  readonly #listener: MemberListener;
  readonly #beginning: () => Beginning;
  #conversation: Conversation | undefined;
  #result: InitializeResult | undefined;
  #opening: Promise<JsonRpcError | undefined> | undefined;
  #openingSinceMs = 0;
  #openSinceMs = 0;
  #isInitialized = false;
  #isMissed = false;
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;

  /** @param beginning gives what its conversation is begun with, each time */
  constructor(backend: MemberBackend, beginning: () => Beginning, listener: MemberListener) {
    this.backend = backend;
    this.#beginning = beginning;
    this.#listener = listener;
  }

  get key(): string {
    return this.backend.key;
  }

  get isOpen(): boolean {
    return this.#conversation !== undefined;
  }

  /** Its last response to `initialize`. */
  get result(): InitializeResult | undefined {
    return this.#result;
  }

  /** Milliseconds since its conversation began to start. */
  get openingForMs(): number {
    return performance.now() - this.#openingSinceMs;
  }

  /**
   * Begins its conversation if there is none.
   * @returns why there is none
   */
  ready(): Promise<JsonRpcError | undefined> {
    if (this.#conversation) return Promise.resolve(undefined);
    if (!this.#opening) {
      this.#openingSinceMs = performance.now();
      this.#opening = this.#open().finally(() => {
        this.#opening = undefined;
      });
    }
    return this.#opening;
  }

  /** Notes that it was missing from an answer: it is tried again, and the client is told when it is there. */
  missed(): void {
    this.#isMissed = true;
    this.#retryLater();
  }

  /** Hands it a message; if it has no conversation, nothing happens. */
  say(message: Message, sender: Sender): void {
    this.#conversation?.say(message, sender);
  }

  /** The client has said that it is initialized. */
  initialized(sender: Sender): void {
    if (this.#isInitialized || !this.#conversation) return;
    this.#isInitialized = true;
    this.say({ jsonrpc: '2.0', method: 'notifications/initialized' }, sender);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const conversation = this.#conversation;
    this.#conversation = undefined;
    await conversation?.end();
  }

  async #open(): Promise<JsonRpcError | undefined> {
    const { initialize, sender } = this.#beginning();
    let isOver = false;
    try {
      const opening = await this.backend.conversations.open(initialize, sender, {
        hear: (message, relatedTo) => this.#listener.hear(this, message, relatedTo),
        ended: () => {
          isOver = true;
          this.#ended();
        },
      });
      if ('error' in opening) return opening.error;
      if (this.#isClosed || isOver) {
        await opening.conversation.end();
        return backendError('backend_ended', this.backend.name);
      }
      this.#opened(opening.conversation, opening.result);
      return undefined;
    } catch (error) {
      this.#listener.noteError(this, error);
      return backendError('backend_not_started', this.backend.name);
    }
  }

  #opened(conversation: Conversation, result: InitializeResult): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#conversation = conversation;
    this.#result = result;
    this.#isInitialized = false;
    this.#openSinceMs = performance.now();
    this.backend.known = result.capabilities;
    const wasMissed = this.#isMissed;
    this.#isMissed = false;
    if (wasMissed) this.#listener.cameBack(this);
  }

  #ended(): void {
    if (!this.#conversation) return;
    this.#conversation = undefined;
    if (performance.now() - this.#openSinceMs > steadyMs) this.#retryMs = firstRetryMs;
    this.#listener.ended(this);
    this.missed();
  }

  #retryLater(): void {
    if (this.#retry || this.#isClosed) return;
    this.#retry = setTimeout(async () => {
      const error = await this.ready();
      this.#retry = undefined;
      if (error) this.#retryLater();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, longestRetryMs);
  }
}
