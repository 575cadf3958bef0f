import type { JSONRPCMessage, MessageExtraInfo, RequestId, Transport } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { callerOf, listenMethod, methodNotFound } from '../../mcp/building-blocks.ts';
import {
  type Backend,
  type Caller,
  type McpLike,
  type Message,
  modernRevision,
  type RequestMessage,
} from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { ClientQuestions } from './client-questions.ts';
import { initializeResult } from './legacy-answers.ts';
import { callerFor } from './own-caller.ts';
import { ResourceWatch } from './resource-watch.ts';
import { type LegacyAnswer, TranslatedCall } from './translated-call.ts';

/** Requests of the older revisions that 2026-07-28 has nothing for (C3-06). */
const removedMethods = new Set(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel']);

/**
 * An MCP server of the revisions up to 2025-11-25, made of one that speaks 2026-07-28 alone: what that needs in the
 * middle of a call becomes requests to the client, subscriptions and changed lists become notifications, and the log
 * level and what the client can do go along with each call.
 * @see MCP 2026-07-28 "Versioning" (B5-16, C4-05, C4-06, C5-03)
 */
export class TranslatingServer implements McpLike {
  readonly #backend: Backend;
  readonly #authInfo: AuthInfo | undefined;
  readonly #running = new InFlightMap<RequestId, TranslatedCall>();
  readonly #questions = new ClientQuestions((message, relatedTo) => this.#say(message, relatedTo));
  readonly #watch: ResourceWatch;
  #transport: Transport | undefined;
  /** Client data in every request of 2026-07-28. */
  #client: Record<string, unknown> = { clientCapabilities: {} };
  #logLevel: unknown;

  /**
   * @param backend what speaks 2026-07-28
   * @param authInfo whose conversation it is; absent if each message says who sent it
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

  /** Takes a message of the client: `connect` hands them over. */
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

  #callerOf(extra: MessageExtraInfo | undefined): Caller {
    const { authInfo } = extra ?? {};
    return callerFor(this.#authInfo ?? (authInfo && callerOf({ authInfo })));
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

  /** A request of the front's own, about the client as a whole. */
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
