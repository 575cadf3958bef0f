import type { JSONRPCMessage, MessageExtraInfo, RequestId, Transport } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { callerOf, honouredFilter, listenMethod, methodNotFound } from '../../mcp/building-blocks.ts';
import {
  type Backend,
  type Call,
  type Caller,
  type Change,
  type McpLike,
  type Message,
  modernRevision,
  type RequestMessage,
  type SubscriptionFilter,
} from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { ClientQuestions, initializeResult, type LegacyAnswer, TranslatedCall } from './translated-call.ts';

/** Requests of the older revisions without a counterpart in 2026-07-28 (C3-06). */
const removedMethods = new Set(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel']);

/**
 * An MCP server of the revisions up to 2025-11-25 in front of a server of 2026-07-28. Input for a call becomes requests
 * to the client, subscriptions and changed lists become notifications, and log level and client capabilities are added
 * to each call.
 * @see MCP 2026-07-28 "Versioning" (B5-16, C4-05, C4-06, C5-03)
 */
export class TranslatingServer implements McpLike {
  readonly #backend: Backend;
  readonly #authInfo: AuthInfo | undefined;
  readonly #running = new InFlightMap<RequestId, TranslatedCall>();
  readonly #questions = new ClientQuestions((message, relatedTo) => this.#say(message, relatedTo));
  readonly #watch: ResourceWatch;
  #transport: Transport | undefined;
  /** Client data that every request of 2026-07-28 contains. */
  #client: Record<string, unknown> = { clientCapabilities: {} };
  #logLevel: unknown;

  /**
   * @param backend a server of 2026-07-28
   * @param authInfo owner of the conversation; absent if each message names its sender
   */
  constructor(backend: Backend, authInfo?: AuthInfo) {
    this.#backend = backend;
    this.#authInfo = authInfo;
    this.#watch = new ResourceWatch(backend, ({ method, params }) =>
      this.#say({ jsonrpc: '2.0', method, ...(params && { params }) }),
    );
  }

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message, extra) => this.take(message as Message, extra);
    await transport.start();
  }

  async close(): Promise<void> {
    this.#watch.end();
    for (const call of this.#running.values()) call.cancel();
    this.#running.clear();
    await this.#transport?.close();
  }

  /** Takes a message of the client. */
  take(message: Message, extra?: MessageExtraInfo): void {
    const { id, method, params } = message;
    if (method === undefined) this.#questions.take(message);
    else if (id !== undefined) this.#request(message as RequestMessage, this.#callerOf(extra));
    else if (method === 'notifications/initialized') this.#watch.begin(this.#about(this.#callerOf(extra)));
    else if (method === 'notifications/cancelled') {
      const cancelled = params?.requestId as RequestId;
      this.#running.get(cancelled)?.cancel();
      this.#running.delete(cancelled);
    }
  }

  /** Returns the sender of a message, whose data may be newer than that of the owner. */
  #callerOf(extra: MessageExtraInfo | undefined): Caller {
    const { authInfo } = extra ?? {};
    return callerFor(authInfo ? callerOf({ authInfo }) : this.#authInfo);
  }

  #request(request: RequestMessage, caller: Caller): void {
    const { id, method, params = {} } = request;
    const answer = (content: LegacyAnswer): void => {
      this.#running.delete(id);
      this.#say({ jsonrpc: '2.0', id, ...content } as Message);
    };
    const settle = (): void => answer({ result: {} });
    if (method === 'initialize') this.#initialize(request, caller, answer);
    else if (method === 'ping') queueMicrotask(settle);
    else if (method === 'logging/setLevel') {
      this.#logLevel = params.level;
      queueMicrotask(settle);
    } else if (method === 'resources/subscribe') this.#watch.add(String(params.uri), settle);
    else if (method === 'resources/unsubscribe') this.#watch.remove(String(params.uri), settle);
    else if (removedMethods.has(method)) queueMicrotask(() => answer({ error: methodNotFound }));
    else this.#forward(request, caller, answer);
  }

  #initialize(request: RequestMessage, caller: Caller, answer: (content: LegacyAnswer) => void): void {
    const { protocolVersion, capabilities = {}, clientInfo } = request.params ?? {};
    this.#client = { clientCapabilities: capabilities, ...(clientInfo === undefined ? {} : { clientInfo }) };
    const discover: RequestMessage = { jsonrpc: '2.0', id: request.id, method: 'server/discover' };
    this.#backend.begin({
      request: this.#withMeta(discover),
      caller,
      notify: () => undefined,
      answer: ({ result: discovered, error }) => {
        if (error) return answer({ error });
        const result = initializeResult(discovered, protocolVersion);
        this.#watch.can(result.capabilities);
        answer({ result });
      },
    });
  }

  #forward(request: RequestMessage, caller: Caller, answer: (content: LegacyAnswer) => void): void {
    const { id } = request;
    const call = new TranslatedCall(this.#withMeta(request), {
      backend: this.#backend,
      questions: this.#questions,
      caller,
      notify: (notification) => this.#say(notification, id),
      answer,
    });
    this.#running.set(id, call);
    call.begin();
  }

  /** Builds a request of the gateway itself, for the client as a whole. */
  #about(caller: Caller): { request: RequestMessage; caller: Caller } {
    return { request: this.#withMeta({ jsonrpc: '2.0', id: 0, method: listenMethod }), caller };
  }

  #withMeta(request: RequestMessage): RequestMessage {
    const meta: Record<string, unknown> = {
      protocolVersion: modernRevision,
      ...this.#client,
      ...(this.#logLevel === undefined ? {} : { logLevel: this.#logLevel }),
    };
    const named = Object.entries(meta).map(([name, value]) => [`io.modelcontextprotocol/${name}`, value]);
    const given = request.params?._meta as object | undefined;
    return { ...request, params: { ...request.params, _meta: { ...given, ...Object.fromEntries(named) } } };
  }

  #say(message: Message, relatedTo?: RequestId): void {
    const related = relatedTo === undefined ? undefined : { relatedRequestId: relatedTo };
    void this.#transport?.send(message as JSONRPCMessage, related);
  }
}

/** Caller of the gateway's own requests to a server that serves everybody. */
const nobody: AuthInfo = {
  issuer: '',
  subject: '',
  clientId: '',
  scopes: [],
  audience: '',
  expiresAt: 0,
};

/** Builds a caller without a request of 2026-07-28. */
export function callerFor(authInfo: AuthInfo = nobody): Caller {
  return { authInfo, headers: {}, request: () => new Request('https://gateway.invalid/') };
}

/** Maximum time until a subscription is confirmed, in milliseconds; then it counts as confirmed. */
const confirmMs = 10_000;

/**
 * Sends notifications about changed lists and subscribed resources to a client of an older revision. At the server this
 * is one subscription, which is replaced when the client changes its own.
 * @see MCP 2026-07-28 "Subscriptions"; MCP 2025-11-25 "Resources", subscriptions (C5-01, C5-03)
 */
class ResourceWatch {
  readonly #backend: Pick<Backend, 'listen'>;
  readonly #tell: (change: Change) => void;
  readonly #uris = new Set<string>();
  #capabilities: Record<string, unknown> = {};
  #about: Pick<Call, 'request' | 'caller'> | undefined;
  /** End the open subscriptions: the newest is last, and older ones stay open until it is confirmed. */
  #stops: (() => void)[] = [];

  /** @param tell takes the notifications */
  constructor(backend: Pick<Backend, 'listen'>, tell: (change: Change) => void) {
    this.#backend = backend;
    this.#tell = tell;
  }

  /** Takes note of the capabilities of the server. */
  can(capabilities: Record<string, unknown>): void {
    this.#capabilities = capabilities;
  }

  /**
   * Starts listening.
   * @param about the request and its caller
   */
  begin(about: Pick<Call, 'request' | 'caller'>): void {
    this.#about = about;
    this.#listen(() => {});
  }

  /**
   * Subscribes to a resource.
   * @param done called when the subscription is confirmed
   */
  add(uri: string, done: () => void): void {
    this.#uris.add(uri);
    this.#listen(done);
  }

  /** Ends the subscription to a resource. */
  remove(uri: string, done: () => void): void {
    this.#uris.delete(uri);
    this.#listen(done);
  }

  /** Ends all subscriptions. */
  end(): void {
    this.#about = undefined;
    for (const stop of this.#stops.splice(0)) stop();
  }

  /**
   * Opens a subscription. The one before stays open until the new one is confirmed, so that no notification is missed.
   */
  #listen(done: () => void): void {
    const before = [...this.#stops];
    let isConfirmed = false;
    const confirmed = (): void => {
      if (isConfirmed) return;
      isConfirmed = true;
      clearTimeout(timer);
      this.#stops = this.#stops.filter((stop) => !before.includes(stop));
      for (const stop of before) stop();
      done();
    };
    const timer = setTimeout(confirmed, confirmMs).unref();
    const filter = honouredFilter(this.#wish(), this.#capabilities);
    const listener = { begun: confirmed, tell: this.#tell, ended: confirmed };
    if (this.#about && this.#backend.listen && Object.keys(filter).length > 0)
      this.#stops.push(this.#backend.listen(filter, this.#about, listener));
    else queueMicrotask(confirmed);
  }

  #wish(): SubscriptionFilter {
    return {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    };
  }
}
