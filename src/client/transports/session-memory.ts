import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';

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

/** Lists that may be other than before in a new session. */
const lists = ['tools', 'prompts', 'resources'];

/**
 * What a client is told of a session that took the place of another: each list it can hear of may have changed.
 * @param capabilities of the server
 * @see MCP server features "List Changed Notification"
 */
export function announceLists(capabilities: unknown): JSONRPCNotification[] {
  const offered = Object(capabilities) as Record<string, { listChanged?: boolean } | undefined>;
  return lists
    .filter((name) => offered[name]?.listChanged)
    .map((name) => ({ jsonrpc: '2.0', method: `notifications/${name}/list_changed` }));
}

/** How the SDK's old HTTP+SSE transport words a refusal of a POST. */
const refusedPost = /^Error POSTing to endpoint \(HTTP 404\)/;

/**
 * Whether a failure says that the server has forgotten the session, so that a new one has to begin. The standard's
 * sign is 404. Many servers are made after an example that answers 400 with a sentence about sessions.
 * @param error what a transport's `send` rejected with
 * @param transport the transport; without a session, 404 has nothing to do with one
 * @see MCP transports "Session Management" (B3-11)
 */
export function isSessionLost(error: unknown, transport: Transport): boolean {
  if (error instanceof SdkHttpError) {
    if (transport.sessionId === undefined) return false;
    const { text } = error.data as { text?: unknown };
    return (
      error.status === 404 || (error.status === 400 && typeof text === 'string' && /session/i.test(text))
    );
  }
  return error instanceof Error && refusedPost.test(error.message);
}
