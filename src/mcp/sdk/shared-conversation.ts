import type { RequestId } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import {
  type Conversation,
  type InitializeParams,
  isBelow,
  isLogLevel,
  type JsonRpcError,
  type Listener,
  type LogLevel,
  type Message,
  noSuchLevel,
  type RequestMessage,
  type Sender,
} from '../protocol.ts';
import { methodNotFound } from './json-rpc-errors.ts';
import { type ClientAbilities, checkAbility, readAbilities } from './negotiation.ts';
import { type Participant, type PendingCall, type ResponseMessage, uniqueId } from './participants.ts';
import type { Guest, SharedServer } from './shared-server.ts';

/** Most resources one conversation may be subscribed to. */
const maxSubscriptions = 1000;

const initializedAlready: JsonRpcError = {
  code: errorCodes.invalidRequest,
  message: 'Invalid request: this session is initialized already. Start a new one for another initialize.',
};
const tooManySubscriptions: JsonRpcError = {
  code: -32000,
  message: `A session may be subscribed to ${maxSubscriptions} resources at most. Unsubscribe from some first.`,
};

/**
 * A conversation with a server that serves others too. Gatehouse itself handles the state of one conversation:
 * `initialize`, `ping`, the log level, and the subscribers of a resource.
 */
export class SharedConversation implements Conversation, Participant, Guest {
  readonly sessionId = uniqueId();
  readonly calls = new InFlightMap<number, PendingCall>();
  readonly #shared: SharedServer;
  readonly #listener: Listener;
  readonly #abilities: ClientAbilities;
  /** Subscribed resources, and the caller who subscribed. */
  #subscribed: Map<string, AuthInfo | undefined> | undefined;
  /** Open elicitations by URL. */
  #elicitations: Set<string> | undefined;
  #level: LogLevel | undefined;
  #isInitialized = false;
  #isEnded = false;

  constructor(shared: SharedServer, { capabilities }: InitializeParams, listener: Listener) {
    this.#shared = shared;
    this.#listener = listener;
    this.#abilities = readAbilities(capabilities);
  }

  get server(): SharedServer['server'] {
    return this.#shared.server;
  }

  say(message: Message, sender: Sender): void {
    if (this.#isEnded) return;
    if (message.method === undefined) this.#shared.line.answer(this, message);
    else if (message.id !== undefined) this.#request(message as RequestMessage, sender);
    else if (message.method === 'notifications/initialized') this.#isInitialized = true;
    else this.#shared.line.notify(this, message, sender);
  }

  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#leave();
    this.#shared.line.release(this, {});
    for (const [uri, authInfo] of this.#subscribed ?? []) {
      const othersStay = this.#shared.subscriptions.remove(uri, this);
      if (!othersStay) this.#shared.ask('resources/unsubscribe', { uri }, authInfo ? { authInfo } : {});
    }
  }

  /** The server closed by itself. */
  serverClosed(): void {
    if (this.#isEnded) return;
    this.#leave();
    this.#listener.ended();
  }

  hear(message: Message, relatedTo?: RequestId): void {
    if (this.#isEnded || isBelow(this.#level, message)) return;
    for (const id of openElicitations(message)) this.#elicit(id);
    this.#listener.hear(message, relatedTo);
  }

  /** Returns true if a notification about the server's tools, prompts or resources concerns it. */
  wants({ method, params }: Message): boolean {
    if (method !== 'notifications/elicitation/complete') return this.#isInitialized;
    return this.#elicitations?.delete(params?.elicitationId as string) ?? false;
  }

  checkRequest(request: RequestMessage): JsonRpcError | undefined {
    return checkAbility(this.#abilities, request);
  }

  #request(request: RequestMessage, sender: Sender): void {
    const { id, method, params } = request;
    if (method === 'initialize') this.#answer(id, { error: initializedAlready });
    else if (method === 'ping') this.#answer(id, { result: {} });
    else if (method === 'logging/setLevel') this.#answer(id, this.#setLevel(params?.level));
    else if (method === 'resources/subscribe') this.#subscribe(request, sender);
    else if (method === 'resources/unsubscribe') this.#unsubscribe(request, sender);
    else if (this.#shared.isForEveryone) this.#requestOfMany(request, sender);
    else this.#shared.line.call(this, request, sender);
  }

  /** Tasks are personal, and the server would show them to all. */
  #requestOfMany(request: RequestMessage, sender: Sender): void {
    if (request.method.startsWith('tasks/')) {
      this.#answer(request.id, { error: methodNotFound });
      return;
    }
    const { task: _task, ...params } = request.params ?? {};
    this.#shared.line.call(
      this,
      request.params?.task === undefined ? request : { ...request, params },
      sender,
    );
  }

  #setLevel(level: unknown): Pick<ResponseMessage, 'result' | 'error'> {
    if (!this.#shared.declares('logging')) return { error: methodNotFound };
    if (!isLogLevel(level)) return { error: noSuchLevel };
    this.#level = level;
    return { result: {} };
  }

  #subscribe(request: RequestMessage, sender: Sender): void {
    const uri = request.params?.uri;
    const isNew = typeof uri === 'string' && !this.#subscribed?.has(uri);
    if (isNew && this.#subscribed?.size === maxSubscriptions) {
      this.#answer(request.id, { error: tooManySubscriptions });
      return;
    }
    // Stored before the server answers: the first update may come before the response, and end() must find it.
    if (isNew) this.#note(uri, sender.authInfo);
    this.#shared.line.call(this, request, sender, ({ error }) => {
      if (isNew && error) this.#forget(uri);
    });
  }

  #unsubscribe(request: RequestMessage, sender: Sender): void {
    const uri = request.params?.uri;
    const othersStay = typeof uri === 'string' && this.#forget(uri);
    if (othersStay) this.#answer(request.id, { result: {} });
    else this.#shared.line.call(this, request, sender);
  }

  #note(uri: string, authInfo: AuthInfo | undefined): void {
    this.#subscribed ??= new Map();
    this.#subscribed.set(uri, authInfo);
    this.#shared.subscriptions.add(uri, this);
  }

  #forget(uri: string): boolean {
    this.#subscribed?.delete(uri);
    return this.#shared.subscriptions.remove(uri, this);
  }

  #elicit(id: string): void {
    this.#elicitations ??= new Set();
    this.#elicitations.add(id);
    const [oldest] = this.#elicitations;
    if (this.#elicitations.size > maxElicitations && oldest !== undefined) this.#elicitations.delete(oldest);
  }

  /** Answers for the server, in a microtask: the sender gets no response before its send has returned. */
  #answer(id: RequestId, answer: Pick<ResponseMessage, 'result' | 'error'>): void {
    queueMicrotask(() => this.hear({ jsonrpc: '2.0', id, ...answer } as ResponseMessage));
  }

  #leave(): void {
    this.#isEnded = true;
    this.#shared.conversations.delete(this.sessionId);
  }
}

/** Maximum number of open elicitations by URL of a conversation. Beyond it, the oldest is forgotten. */
const maxElicitations = 100;

const urlElicitationRequired = -32042;
const none: readonly string[] = [];

/**
 * Returns the ids of the elicitations by URL that a message of a server starts: a request, or an error that requires
 * them. The notification of their end names only the id.
 * @see MCP 2025-11-25 elicitation "URL Mode Elicitation Requests" and "URL Elicitation Required Error"
 */
export function openElicitations({ method, params, error }: ResponseMessage): readonly string[] {
  if (method === 'elicitation/create') return ids([params]);
  if (error?.code !== urlElicitationRequired) return none;
  const { elicitations } = (error.data ?? {}) as { elicitations?: unknown };
  return Array.isArray(elicitations) ? ids(elicitations) : none;
}

function ids(elicitations: unknown[]): string[] {
  return elicitations
    .map((elicitation) => (elicitation as { elicitationId?: unknown } | undefined)?.elicitationId)
    .filter((id) => typeof id === 'string');
}
