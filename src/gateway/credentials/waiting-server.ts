import type { JSONRPCMessage, MessageExtraInfo, RequestId, Transport } from '@modelcontextprotocol/server';
import { announceLists } from '../../client/transports/session-memory.ts';
import { callerOf, missingInputOf } from '../../mcp/building-blocks.ts';
import {
  type InitializeResult,
  isLogLevel,
  type JsonRpcError,
  type McpLike,
  type Message,
  noSuchLevel,
  type RequestMessage,
  type ServerSource,
} from '../../mcp/protocol.ts';
import { type AuthInfo, accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import { backendError } from '../backends/backend-errors.ts';
import type { CredentialSource } from './credentials.ts';

/** Options of a waiting server. */
interface WaitingOptions {
  credentials: CredentialSource;
  caller: AuthInfo;
  /** Display name of the backend. */
  name: string;
  logger: Pick<Logger, 'error'>;
}

const listed = { listChanged: true };

/** Capabilities that are declared for a server that cannot be asked yet: it may have any of them. */
const anything = { logging: {}, tools: listed, prompts: listed, resources: listed };

/** Ids of requests of the gateway itself. */
const initializeId = 'gatehouse-waiting';
const levelId = 'gatehouse-level';

/**
 * A server that waits for a credential of its user. Until then it answers `initialize` itself, and everything else with
 * an error that says where to enter the credential. Afterwards it notifies the client that the lists have changed, and
 * its next request starts the server with the client's `initialize`.
 */
class WaitingServer implements McpLike {
  readonly #server: McpLike;
  readonly #options: WaitingOptions;
  #transport: Transport | undefined;
  #initialize: Message | undefined;
  #starting: Promise<JsonRpcError | undefined> | undefined;
  #answered: ((answer: Message) => void) | undefined;
  #inner: Transport | undefined;
  #level: unknown;
  #isAnnounced = false;
  #stopHearing: (() => void) | undefined;

  constructor(server: McpLike, options: WaitingOptions) {
    this.#server = server;
    this.#options = options;
  }

  async connect(transport: Transport): Promise<void> {
    const missing = await this.#missing(this.#options.caller);
    if (!missing) return this.#server.connect(transport);
    this.#transport = transport;
    transport.onmessage = (message, extra) => this.#take(message as Message, extra);
    transport.onclose = () => this.#stopHearing?.();
    this.#hearWhenGiven();
    await transport.start();
  }

  close(): Promise<void> {
    this.#stopHearing?.();
    return this.#server.close();
  }

  async #missing(caller: AuthInfo): Promise<JsonRpcError | undefined> {
    const found = await this.#options.credentials.find(caller);
    return 'error' in found && missingInputOf(found.error) ? found.error : undefined;
  }

  /** Tells the client that its user has provided the missing credential: the lists so far are incomplete. */
  #hearWhenGiven(): void {
    const { credentials, caller } = this.#options;
    const account = accountKeyPrefix(caller);
    this.#stopHearing = credentials.onGiven?.(async (owner) => {
      if (accountKeyPrefix(owner) !== account || 'error' in (await credentials.find(caller))) return;
      this.#stopHearing?.();
      this.#announce();
    });
  }

  #announce(): void {
    if (this.#isAnnounced) return;
    this.#isAnnounced = true;
    for (const change of announceLists(anything)) void this.#transport?.send(change);
  }

  #take(message: Message, extra: MessageExtraInfo | undefined): void {
    const { id, method } = message;
    if (id === undefined || method === undefined) return;
    if (method === 'initialize') {
      this.#initialize = message;
      const serverInfo = { name: this.#options.name, version: '0' };
      const { protocolVersion } = message.params ?? {};
      this.#answer(id, { result: { protocolVersion, capabilities: anything, serverInfo } });
    } else if (method === 'ping') this.#answer(id, { result: {} });
    else if (method === 'logging/setLevel') this.#setLevel(message as RequestMessage);
    else void this.#serve(message as RequestMessage, extra);
  }

  /** Remembers the log level for the server. */
  #setLevel({ id, params }: RequestMessage): void {
    const isLevel = isLogLevel(params?.level);
    if (isLevel) this.#level = params?.level;
    this.#answer(id, isLevel ? { result: {} } : { error: noSuchLevel });
  }

  async #serve(request: RequestMessage, extra: MessageExtraInfo | undefined): Promise<void> {
    // Who sent this request may be waited for, unlike who sent the first.
    const caller = extra?.authInfo ? callerOf({ authInfo: extra.authInfo }) : this.#options.caller;
    const error = (await this.#missing(caller)) ?? (await this.#started());
    if (error) this.#answer(request.id, { error });
    else this.#inner?.onmessage?.(request as JSONRPCMessage, extra);
  }

  /**
   * Starts the server, once.
   * @returns the reason if it cannot be started
   */
  async #started(): Promise<JsonRpcError | undefined> {
    const { name, logger } = this.#options;
    this.#starting ??= this.#start().catch((err: unknown) => {
      logger.error({ err, backend: name }, 'a backend could not be begun with');
      return backendError('backend_not_started', name);
    });
    const error = await this.#starting;
    if (error) this.#starting = undefined;
    return error;
  }

  async #start(): Promise<JsonRpcError | undefined> {
    this.#inner ??= await this.#connected();
    const { promise, resolve } = Promise.withResolvers<Message>();
    this.#answered = resolve;
    this.#inner.onmessage?.({ ...this.#initialize, id: initializeId } as JSONRPCMessage);
    const { error, result } = (await promise) as { error?: JsonRpcError; result?: InitializeResult };
    if (error) return error;
    this.#stopHearing?.();
    this.#inner.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' });
    if (this.#level !== undefined && result?.capabilities.logging !== undefined)
      this.#inner.onmessage?.({
        jsonrpc: '2.0',
        id: levelId,
        method: 'logging/setLevel',
        params: { level: this.#level },
      });
    const { onmessage } = this.#inner;
    if (this.#transport && onmessage) this.#transport.onmessage = onmessage;
    this.#announce();
    return undefined;
  }

  /** Connects the server to a transport between it and the client. */
  async #connected(): Promise<Transport> {
    const outer = this.#transport as Transport;
    const inner: Transport = {
      start: async () => undefined,
      close: () => outer.close(),
      send: (message, options) => {
        const { id, method } = message as Message;
        const isOurs = method === undefined && (id === initializeId || id === levelId);
        if (!isOurs) return outer.send(message, options);
        if (id === initializeId) this.#answered?.(message as Message);
        return Promise.resolve();
      },
    };
    outer.onclose = () => {
      this.#stopHearing?.();
      inner.onclose?.();
    };
    await this.#server.connect(inner);
    return inner;
  }

  #answer(id: RequestId, answer: { result: object } | { error: JsonRpcError }): void {
    queueMicrotask(() => void this.#transport?.send({ jsonrpc: '2.0', id, ...answer } as JSONRPCMessage));
  }
}

/**
 * Makes the servers of a source wait for missing credentials of users, so that clients can start and show the error of
 * a call (C7-04). A user who has entered them notices nothing.
 * @param about display name of the backend, and the listener to failed starts
 */
export function withWaitingServers(
  source: ServerSource,
  credentials: CredentialSource,
  about: Pick<WaitingOptions, 'name' | 'logger'>,
): ServerSource {
  return {
    ...source,
    async create(context) {
      const server = await source.create(context);
      const { authInfo: caller } = context;
      return caller ? new WaitingServer(server, { ...about, credentials, caller }) : server;
    },
    ...(source.modern && {
      async modern(caller) {
        const found = await credentials.find(caller.authInfo);
        const isMissing = 'error' in found && missingInputOf(found.error) !== undefined;
        return isMissing ? undefined : source.modern?.(caller);
      },
    }),
  };
}
