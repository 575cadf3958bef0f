import type { RequestId } from '@modelcontextprotocol/server';
import {
  type Conversation,
  type Conversations,
  type InitializeParams,
  type InitializeResult,
  isRecord,
  type JsonRpcError,
  type Message,
  type Sender,
} from '../../mcp/protocol.ts';
import { backendError } from '../backends/backend-errors.ts';

/** One of several backends, shared by all conversations with it. */
export interface MemberBackend {
  key: string;
  /** Name in errors and in the log. */
  name: string;
  conversations: Conversations;
  /** Its capabilities at the last start. */
  known?: Record<string, unknown>;
}

/** Receives the messages of a backend. */
export interface MemberListener {
  /**
   * Takes a message.
   * @param relatedTo id of the request that it belongs to, if known
   */
  hear(member: Member, message: Message, relatedTo: RequestId | undefined): void;
  /** The backend was missing from a response, and is available now. */
  cameBack(member: Member): void;
  /** Its conversation has ended: running requests get no response. */
  ended(member: Member): void;
  /** A background attempt to start it failed. */
  noteError(member: Member, error: unknown): void;
}

/** Options of a conversation with a backend. */
interface Beginning {
  initialize: InitializeParams;
  sender: Sender;
}

/** Pause until a missing backend is tried again, in milliseconds; doubled each time. */
const firstRetryMs = 1000;
const longestRetryMs = 60_000;

/** Duration of a conversation after which the next failure counts as the first, in milliseconds. */
const steadyMs = 60_000;

/** One backend's part in a conversation with several. It is started when it is needed, and again after it has ended. */
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

  /** @param beginning returns the options for each start */
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
   * Starts its conversation if there is none.
   * @returns the reason if it cannot be started
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

  /**
   * Takes note that it is missing from a response: it is tried again, and the client is notified when it is available.
   */
  missed(): void {
    this.#isMissed = true;
    this.#retryLater();
  }

  /** Sends a message, if there is a conversation. */
  say(message: Message, sender: Sender): void {
    this.#conversation?.say(message, sender);
  }

  /** Takes note that the client is initialized. */
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

/** Maximum wait for a backend that is not the only one, in milliseconds. */
const patienceMs = 10_000;

/** Member of a result that names the missing backends. */
const unavailableMember = 'mcp-gatehouse/unavailable';

/** A backend that is missing from a response. */
export interface Missing {
  member: Member;
  error: JsonRpcError;
}

/**
 * Waits for backends: for all of them, but at most ten seconds if one is ready by then.
 * @returns the missing ones, each with the reason
 */
export async function gather(members: readonly Member[]): Promise<Missing[]> {
  const errors = new Map<Member, JsonRpcError>();
  const tries = members.map(async (member) => {
    const error = await member.ready();
    if (error) errors.set(member, error);
    return error === undefined;
  });
  const { promise: isLate, resolve } = Promise.withResolvers<void>();
  const timers: NodeJS.Timeout[] = [];
  for (const attempt of tries)
    void attempt.then((isReady) => {
      if (!isReady) return;
      const waited = members.filter(({ isOpen }) => !isOpen).map(({ openingForMs }) => openingForMs);
      timers.push(setTimeout(resolve, patienceMs - Math.min(patienceMs, ...waited)).unref());
    });
  await Promise.race([Promise.all(tries), isLate]);
  for (const timer of timers) clearTimeout(timer);
  return members
    .filter(({ isOpen }) => !isOpen)
    .map((member) => ({
      member,
      error: errors.get(member) ?? backendError('backend_start_timed_out', member.backend.name),
    }));
}

/** Builds the `_meta` that names missing backends, and limits the validity of the result. */
export function sayMissing(missing: readonly Missing[]): Record<string, unknown> {
  if (missing.length === 0) return {};
  const named = missing.map(({ member: { key }, error }) => {
    const reason = reasonOf(error);
    return { backend: key, message: error.message, ...(typeof reason === 'string' && { reason }) };
  });
  return { ttlMs: 0, _meta: { [unavailableMember]: named } };
}

/** Returns the `reason` of an error, if it has one. */
export function reasonOf({ data }: JsonRpcError): unknown {
  return isRecord(data) ? data.reason : undefined;
}
