import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/client';

/** The first messages of a session. */
export interface SessionOpening {
  initialize: JSONRPCRequest;
  initialized: JSONRPCNotification;
}

/** The state of a session at the server, to restore it in a new session. */
export class SessionMemory {
  #initialize: JSONRPCRequest | undefined;
  #initialized: JSONRPCNotification | undefined;
  #logLevel: JSONRPCRequest | undefined;
  readonly #subscriptions = new Map<unknown, JSONRPCRequest>();

  /** Records a message to the server. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.#requested(message);
    else if (message.method === 'notifications/initialized') this.#initialized = message;
  }

  #requested(request: JSONRPCRequest): void {
    const { method, params } = request;
    if (method === 'initialize') this.#initialize = request;
    if (method === 'logging/setLevel') this.#logLevel = request;
    if (method === 'resources/subscribe') this.#subscriptions.set(params?.uri, request);
    if (method === 'resources/unsubscribe') this.#subscriptions.delete(params?.uri);
  }

  /** The first messages of the session; undefined without one, as in 2026-07-28. */
  get opening(): SessionOpening | undefined {
    if (!this.#initialize || !this.#initialized) return undefined;
    return { initialize: this.#initialize, initialized: this.#initialized };
  }

  /** Requests that affect the whole session: the log level and the subscriptions. */
  get lasting(): JSONRPCRequest[] {
    return [...(this.#logLevel ? [this.#logLevel] : []), ...this.#subscriptions.values()];
  }
}

/** Lists that may differ in a new session. */
const lists = ['tools', 'prompts', 'resources'];

/**
 * Returns the notifications for a session that replaced another: each list with notifications may have
 * changed.
 * @param capabilities of the server
 * @see MCP server features "List Changed Notification"
 */
export function announceLists(capabilities: unknown): JSONRPCNotification[] {
  const offered = Object(capabilities) as Record<string, { listChanged?: boolean } | undefined>;
  return lists
    .filter((name) => offered[name]?.listChanged)
    .map((name) => ({ jsonrpc: '2.0', method: `notifications/${name}/list_changed` }));
}
