import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/client';
import { errorCodes } from '../../../oauth/mcp-error-codes.ts';
import { OwnRequests } from '../../transports/open-requests.ts';
import { paramHeaders } from '../../transports/param-headers.ts';
import type { RenewingTransport } from '../../transports/renewing-transport.ts';
import { createServerTransport, type ServerTransportOptions } from '../../transports/server-transports.ts';
import { failedAnswer, type HostSide, type Relay } from './relay.ts';

/** First and longest wait before a broken subscription is opened again, in milliseconds. */
const relistenMs = { first: 500, longest: 15_000 };

/** A running request of the host. */
interface Running {
  request: JSONRPCRequest;
  controller: AbortController;
  /** True after a call was repeated with new headers. */
  isRetried?: boolean;
}

/**
 * Relays messages between a host of 2026-07-28 and a server of the same revision, unchanged. It handles the
 * differences of HTTP: cancelling closes the stream of a request, broken subscriptions are opened again, and
 * tool parameters become headers if the tool requires it.
 * @see MCP 2026-07-28 transports (B1-08, B5-03, B5-08, B5-11, B5-14, C5-03)
 */
class ModernRelay implements Relay {
  readonly #transport: RenewingTransport;
  readonly #host: HostSide;
  readonly #running = new Map<RequestId, Running>();
  readonly #own = new OwnRequests();
  /** Input schemas of tools, as far as the host has listed them. */
  readonly #schemas = new Map<string, unknown>();
  readonly #acknowledged = new Set<unknown>();
  #isEnded = false;

  constructor(transport: RenewingTransport, host: HostSide) {
    this.#transport = transport;
    this.#host = host;
    transport.onmessage = (message) => this.#hear(message);
  }

  take(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) {
      const running = { request: message, controller: new AbortController() };
      this.#running.set(message.id, running);
      void this.#send(running);
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      const id = message.params?.requestId as RequestId;
      this.#running.get(id)?.controller.abort();
      this.#running.delete(id);
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#transport.close();
  }

  async #send(running: Running, waitMs = relistenMs.first): Promise<void> {
    const { request, controller } = running;
    const isSubscription = request.method === 'subscriptions/listen';
    const again = (): void => {
      if (this.#isEnded || !this.#running.has(request.id)) return;
      const longer = Math.min(waitMs * 2, relistenMs.longest);
      setTimeout(() => void this.#send(running, longer), waitMs).unref();
    };
    try {
      await this.#transport.send(request, {
        requestSignal: controller.signal,
        headers: this.#headersOf(request),
        ...(isSubscription && { onRequestStreamEnd: again }),
      });
    } catch (failure) {
      if (controller.signal.aborted) return;
      if (isSubscription && this.#acknowledged.has(request.id)) return again();
      this.#answer(failedAnswer(request.id, failure));
    }
  }

  #headersOf({ method, params }: JSONRPCRequest): Record<string, string> {
    if (method !== 'tools/call') return {};
    return paramHeaders(this.#schemas.get(String(params?.name)), params?.arguments);
  }

  #hear(message: JSONRPCMessage): void {
    if (this.#own.take(message)) return;
    if ('method' in message) {
      if (!this.#isRepeated(message.method, message.params)) this.#host.write(message);
      return;
    }
    const running = message.id === undefined ? undefined : this.#running.get(message.id);
    if (isJSONRPCResultResponse(message) && running?.request.method === 'tools/list')
      this.#learn(message.result);
    if (isJSONRPCErrorResponse(message) && message.error.code === errorCodes.headerMismatch && running)
      void this.#retry(running, message);
    else this.#answer(message);
  }

  /** Checks if an acknowledgement repeats an earlier one, because its subscription was opened again. */
  #isRepeated(method: string, params: Record<string, unknown> | undefined): boolean {
    if (method !== 'notifications/subscriptions/acknowledged') return false;
    const { _meta: meta } = params ?? {};
    const id = (Object(meta) as Record<string, unknown>)['io.modelcontextprotocol/subscriptionId'];
    const isRepeated = this.#acknowledged.has(id);
    this.#acknowledged.add(id);
    return isRepeated;
  }

  #learn({ tools }: Record<string, unknown>): void {
    for (const tool of Array.isArray(tools) ? tools : []) {
      const { name, inputSchema } = Object(tool) as { name?: unknown; inputSchema?: unknown };
      this.#schemas.set(String(name), inputSchema);
    }
  }

  /** Lists the tools once, and repeats the call with the required headers (B5-11). */
  async #retry(running: Running, refusal: JSONRPCMessage): Promise<void> {
    const { request } = running;
    if (running.isRetried || request.method !== 'tools/call') return this.#answer(refusal);
    running.isRetried = true;
    const params = { _meta: request.params?._meta };
    const list = { jsonrpc: '2.0' as const, method: 'tools/list', params };
    const tools = await this.#own.ask(this.#transport, list).catch(() => undefined);
    if (tools && isJSONRPCResultResponse(tools)) this.#learn(tools.result);
    await this.#send(running);
  }

  #answer(message: JSONRPCMessage): void {
    if ('id' in message && message.id !== undefined) this.#running.delete(message.id);
    this.#host.write(message);
  }
}

/**
 * Opens a connection for a host of 2026-07-28. Nothing is sent yet: each request is independent.
 * @param options the server
 * @param host receives the messages to the host
 */
export async function openModernRelay(options: ServerTransportOptions, host: HostSide): Promise<Relay> {
  const transport = createServerTransport('http', options);
  const relay = new ModernRelay(transport, host);
  await transport.start();
  return relay;
}
