import type { RequestId } from '@modelcontextprotocol/server';
import type { Message } from '../../mcp/protocol.ts';

/** A request by which a client changes what a server keeps of it. */
interface Change {
  method: string;
  params: Record<string, unknown> | undefined;
}

const changes = new Set(['initialize', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);

/**
 * Messages that a new process of a server must get again: `initialize`, the client's ready notification, its log level,
 * its subscriptions.
 */
export class Told {
  readonly #open = new Map<RequestId, Change>();
  readonly #subscriptions = new Set<unknown>();
  #initialize: Record<string, unknown> | undefined;
  #isInitialized = false;
  #level: unknown;

  /** True if the server was initialized before. */
  get wasInitialized(): boolean {
    return this.#initialize !== undefined;
  }

  /** True if the client said that it is ready. */
  get isInitialized(): boolean {
    return this.#isInitialized;
  }

  /** True if somebody waits to hear of resources. */
  get hasSubscriptions(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Takes note of what goes to the server. */
  say({ id, method, params }: Message): void {
    if (method === 'notifications/initialized') this.#isInitialized = true;
    else if (id !== undefined && changes.has(method as string))
      this.#open.set(id, { method: method as string, params });
  }

  /** Takes note of what the server answered, or that it did not. */
  answered(id: RequestId, isResult: boolean): void {
    if (this.#open.size === 0) return;
    const change = this.#open.get(id);
    this.#open.delete(id);
    if (change && isResult) this.#keep(change);
  }

  /** First request to a new process. */
  get initialize(): { method: string; params: Record<string, unknown> } {
    return { method: 'initialize', params: this.#initialize ?? {} };
  }

  /** Messages after its response; all but the first need a response. */
  afterInitialize(): { method: string; params?: Record<string, unknown> }[] {
    const ready = this.#isInitialized ? [{ method: 'notifications/initialized' }] : [];
    const level =
      this.#level === undefined ? [] : [{ method: 'logging/setLevel', params: { level: this.#level } }];
    const subscriptions = [...this.#subscriptions].map((uri) => ({
      method: 'resources/subscribe',
      params: { uri },
    }));
    return [...ready, ...level, ...subscriptions];
  }

  #keep({ method, params = {} }: Change): void {
    if (method === 'initialize') this.#initialize = params;
    else if (method === 'logging/setLevel') this.#level = params.level;
    else if (method === 'resources/subscribe') this.#subscriptions.add(params.uri);
    else this.#subscriptions.delete(params.uri);
  }
}
