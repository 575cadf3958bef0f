import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/client';

/** How a session begins. */
export interface SessionOpening {
  initialize: JSONRPCRequest;
  initialized: JSONRPCNotification;
}

/** What a session was told, so that a new one can be told the same. */
export class SessionMemory {
  #initialize: JSONRPCRequest | undefined;
  #initialized: JSONRPCNotification | undefined;
  #logLevel: JSONRPCRequest | undefined;
  readonly #subscriptions = new Map<unknown, JSONRPCRequest>();

  /** Takes note of a message on its way to the server. */
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

  /** How the session began; undefined where none was begun, as in 2026-07-28. */
  get opening(): SessionOpening | undefined {
    if (!this.#initialize || !this.#initialized) return undefined;
    return { initialize: this.#initialize, initialized: this.#initialized };
  }

  /** Requests whose effect lasts as long as the session: the log level and the subscriptions. */
  get lasting(): JSONRPCRequest[] {
    return [...(this.#logLevel ? [this.#logLevel] : []), ...this.#subscriptions.values()];
  }
}
