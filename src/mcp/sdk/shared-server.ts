import { InFlightMap } from '../../collections/in-flight-map.ts';
import type { Logger } from '../../observability/logger.ts';
import {
  type Change,
  type InitializeParams,
  type InitializeResult,
  isElsewhere,
  type JsonRpcError,
  type McpLike,
  type Message,
  newestLegacyRevision,
  type RequestMessage,
  type Sender,
  type ServerSource,
} from '../protocol.ts';
import { changeOf, changesOfLists } from '../reading/changes.ts';
import { MultiplexedTransport } from './multiplexed-transport.ts';
import { checkAnswered, negotiateRevision } from './negotiation.ts';

/** Client information that Gatehouse sends to a shared server. */
const frontParams = {
  protocolVersion: newestLegacyRevision,
  clientInfo: { name: 'gatehouse', version: '1' },
};

/** Options of a shared server. */
export interface SharedServerOptions {
  /** Client capabilities declared to it. */
  capabilities: InitializeParams['capabilities'];
  /** Source of the server. */
  source: Pick<ServerSource, 'sharing'>;
  /** Tells other nodes of a change; absent if there are none. */
  tell?: ((change: Change) => void) | undefined;
  logger: Logger;
}

/** Removes the capabilities with personal state: a server that cannot distinguish accounts would mix it. */
function withoutPersonal(result: InitializeResult): InitializeResult {
  const { logging: _logging, tasks: _tasks, ...capabilities } = result.capabilities;
  return { ...result, capabilities };
}

/** A conversation, as the shared server sees it. */
export interface Guest {
  /** Returns true if a notification about the server's tools, prompts or resources concerns it. */
  wants(notification: Message): boolean;
  hear(notification: Message): void;
  end(): Promise<void>;
  /** The server closed by itself. */
  serverClosed(): void;
}

/** One server with all its conversations. Gatehouse initializes it once. */
export class SharedServer {
  readonly server: McpLike;
  readonly line: MultiplexedTransport;
  /** True if it runs in another process and serves many accounts: it cannot distinguish them (T-158). */
  readonly isForEveryone: boolean;
  /** By the ids that the server knows them by. */
  readonly conversations = new InFlightMap<string, Guest>();
  readonly subscriptions = new Subscriptions<Guest>();
  readonly #logger: Logger;
  readonly #capabilities: InitializeParams['capabilities'];
  readonly #tell: SharedServerOptions['tell'];
  #result: InitializeResult | undefined;
  /** Responses to `initialize`, by the agreed revision. */
  readonly #results = new Map<string, InitializeResult>();

  constructor(server: McpLike, { capabilities, source, tell, logger }: SharedServerOptions) {
    this.server = server;
    this.#tell = tell;
    this.#capabilities = capabilities;
    this.#logger = logger;
    this.isForEveryone = source.sharing === 'everyone';
    this.line = new MultiplexedTransport({
      isElsewhere: isElsewhere(source),
      isForEveryone: this.isForEveryone,
      announce: (notification) => this.#announce(notification),
      onClose: () => this.#closed(),
      logger,
    });
  }

  /**
   * Connects and initializes the server.
   * @returns its error for `initialize`, or the error for a response that is not valid
   * @throws errors of its `connect`
   */
  async start(): Promise<JsonRpcError | undefined> {
    const capabilities = this.isForEveryone ? {} : this.#capabilities;
    const params: InitializeParams = { ...frontParams, capabilities };
    const { result, error } = await this.line.open(this.server, params, {});
    if (error) return error;
    const initialized = result as InitializeResult;
    this.#result = this.isForEveryone ? withoutPersonal(initialized) : initialized;
    const notServed = checkAnswered(this.#result);
    if (notServed) return notServed;
    this.line.notify(undefined, { jsonrpc: '2.0', method: 'notifications/initialized' }, {});
    // Gatehouse filters by each client's level itself, so the server has to send all messages.
    if (this.declares('logging')) this.ask('logging/setLevel', { level: 'debug' });
    return undefined;
  }

  /** Returns the response to `initialize` in the revision of one client: the same object for each revision. */
  resultFor(requested: string): InitializeResult {
    const result = this.#result as InitializeResult;
    const { supportedVersions } = this.line;
    const protocolVersion = negotiateRevision(requested, result.protocolVersion, supportedVersions);
    const known = this.#results.get(protocolVersion);
    if (known) return known;
    const made = { ...result, protocolVersion };
    this.#results.set(protocolVersion, made);
    return made;
  }

  /** Returns true if the server declares a capability. */
  declares(capability: string): boolean {
    return this.#result?.capabilities[capability] !== undefined;
  }

  /** Sends a request of Gatehouse itself. Its response is ignored. */
  ask(method: string, params: Record<string, unknown>, sender: Sender = {}): void {
    const request: RequestMessage = { jsonrpc: '2.0', id: 0, method, params };
    this.line.call(undefined, request, sender);
  }

  /** Closes the server, without notice to its conversations. */
  async close(): Promise<void> {
    await Promise.all(this.conversations.values().map((conversation) => conversation.end()));
    try {
      await this.server.close();
    } catch (error) {
      this.#logger.warn({ err: error }, 'an MCP server failed to close');
    }
  }

  /** Notifies the conversations of a change at another node. */
  hear(told: Change): void {
    const change = changeOf({ jsonrpc: '2.0', ...told });
    if (change) this.#notify({ jsonrpc: '2.0', ...change });
  }

  /** Notifies the conversations of all that may have changed. */
  hearAll(): void {
    for (const notification of changesOfLists(this.#result?.capabilities)) this.#notify(notification);
    for (const uri of this.subscriptions.uris())
      this.#notify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } });
  }

  #announce(notification: Message): void {
    this.#notify(notification);
    const change = this.#tell && changeOf(notification);
    if (change) this.#tell?.(change);
  }

  #notify(notification: Message): void {
    const { method, params } = notification;
    if (method === 'notifications/resources/updated')
      for (const conversation of this.subscriptions.of(params?.uri)) conversation.hear(notification);
    else
      for (const conversation of this.conversations.values())
        if (conversation.wants(notification)) conversation.hear(notification);
  }

  #closed(): void {
    if (this.conversations.size > 0) this.#logger.warn('an MCP server that serves all sessions closed');
    for (const conversation of this.conversations.values()) conversation.serverClosed();
  }
}

/** Subscribers of resource updates among the conversations with one server. */
export class Subscriptions<Subscriber> {
  readonly #byUri = new Map<unknown, Set<Subscriber>>();

  /** Number of subscribed resources. */
  get size(): number {
    return this.#byUri.size;
  }

  add(uri: string, subscriber: Subscriber): void {
    const subscribers = this.#byUri.get(uri) ?? new Set();
    this.#byUri.set(uri, subscribers.add(subscriber));
  }

  /** @returns whether others stay subscribed */
  remove(uri: string, subscriber: Subscriber): boolean {
    const subscribers = this.#byUri.get(uri);
    subscribers?.delete(subscriber);
    if (subscribers?.size === 0) this.#byUri.delete(uri);
    return this.#byUri.has(uri);
  }

  /** Returns the subscribed resources. */
  uris(): unknown[] {
    return [...this.#byUri.keys()];
  }

  /** Returns the present subscribers. */
  of(uri: unknown): Subscriber[] {
    return [...(this.#byUri.get(uri) ?? [])];
  }
}
