import {
  Client,
  type ClientCapabilities,
  type Implementation,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  LATEST_PROTOCOL_VERSION,
  LOG_LEVEL_META_KEY,
  type McpSubscription,
  type Progress,
  ProtocolError,
  type RequestId,
  type RequestOptions,
  type Result,
  SdkError,
  type StandardSchemaV1,
  SUPPORTED_PROTOCOL_VERSIONS,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client';
import { readingMarkedNumbers } from '../../transports/exact-numbers.ts';
import { createServerTransport, type ServerTransportOptions } from '../../transports/server-transports.ts';
import { HostQuestions } from './host-channel.ts';
import { failedAnswer, type HostSide, type Relay } from './relay.ts';

/** The revision of servers without `initialize`. */
const modernRevision = '2026-07-28';

/** Time limit of calls without an end; the host has its own, shorter limits. Milliseconds. */
const callTimeoutMs = 24 * 60 * 60 * 1000;

/** Waits before a broken subscription is opened again, in milliseconds. */
const firstRelistenMs = 500;
const longestRelistenMs = 15_000;

/** A schema that accepts all results; the host validates them. */
const asItIs: StandardSchemaV1<unknown, Result> = {
  '~standard': { version: 1, vendor: 'gatehouse', validate: (value) => ({ value: value as Result }) },
};

/** The `initialize` parameters of a host up to 2025-11-25. */
interface HostParams {
  protocolVersion?: string;
  capabilities?: ClientCapabilities;
  clientInfo?: Implementation;
}

/**
 * Connects a host up to 2025-11-25 to a server of 2026-07-28: requests in the middle of a call
 * (`input_required`) become requests to the host, subscriptions become one stream, and the log level is sent
 * with each call.
 * @see MCP 2026-07-28 "Versioning" (B5-16, C4-05, C5-03)
 */
class TranslatingRelay implements Relay {
  readonly #client: Client;
  readonly #host: HostSide;
  readonly #running = new Map<RequestId, AbortController>();
  readonly #questions: HostQuestions;
  readonly #uris = new Set<string>();
  #subscription: Promise<McpSubscription | undefined> = Promise.resolve(undefined);
  #logLevel: unknown;

  constructor(client: Client, host: HostSide) {
    this.#client = client;
    this.#host = host;
    this.#questions = new HostQuestions(host);
    client.fallbackNotificationHandler = async (notification) =>
      host.write({ jsonrpc: '2.0', ...notification } as JSONRPCMessage);
  }

  /** Allows the server the requests for which the host declared a capability. */
  answerFor({ sampling, elicitation, roots }: ClientCapabilities): void {
    const ask = async (request: { method: string; params?: object }): Promise<Result> =>
      this.#questions.ask(request.method, request.params);
    if (sampling) this.#client.setRequestHandler('sampling/createMessage', ask as never);
    if (roots) this.#client.setRequestHandler('roots/list', ask as never);
    if (elicitation)
      this.#client.setRequestHandler('elicitation/create', (async ({ method, params }: JSONRPCRequest) => {
        // Up to 2025-11-25 a URL elicitation has an id, which later revisions lack.
        const id = params?.mode === 'url' ? { elicitationId: crypto.randomUUID() } : {};
        return this.#questions.ask(method, { ...id, ...params });
      }) as never);
  }

  take(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) void this.#answer(message);
    else if ('method' in message) {
      if (message.method === 'notifications/cancelled')
        this.#running.get(message.params?.requestId as RequestId)?.abort('cancelled by the host');
    } else this.#questions.take(message);
  }

  async end(): Promise<void> {
    for (const controller of this.#running.values()) controller.abort('the host is gone');
    await this.#client.close();
  }

  async #answer(request: JSONRPCRequest): Promise<void> {
    const { id } = request;
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      const result = await this.#carryOut(request, controller.signal);
      if (!controller.signal.aborted) this.#host.write({ jsonrpc: '2.0', id, result });
    } catch (error) {
      if (!controller.signal.aborted) this.#host.write(refusedAnswer(id, error));
    } finally {
      this.#running.delete(id);
    }
  }

  async #carryOut({ method, params = {} }: JSONRPCRequest, signal: AbortSignal): Promise<Result> {
    switch (method) {
      case 'ping':
        return {};
      case 'logging/setLevel':
        this.#logLevel = params.level;
        return {};
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        if (method === 'resources/subscribe') this.#uris.add(String(params.uri));
        else this.#uris.delete(String(params.uri));
        await this.listen();
        return {};
      default:
        return this.#forward(method, params, signal);
    }
  }

  async #forward(
    method: string,
    { _meta, ...params }: Record<string, unknown> & { _meta?: Record<string, unknown> },
    signal: AbortSignal,
  ): Promise<Result> {
    const { progressToken, ...meta } = _meta ?? {};
    if (this.#logLevel !== undefined) meta[LOG_LEVEL_META_KEY] = this.#logLevel;
    const onprogress = (progress: Progress): void =>
      this.#host.write({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { ...progress, progressToken } as Record<string, unknown>,
      });
    const options: RequestOptions = {
      signal,
      timeout: callTimeoutMs,
      ...(progressToken === undefined ? {} : { onprogress }),
    };
    const sent = { ...params, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) };
    if (method === 'tools/call')
      return this.#client.callTool(sent as Parameters<Client['callTool']>[0], options);
    return this.#client.request({ method, params: sent }, asItIs, options);
  }

  /** Subscribes to list changes, and to the resources that the host subscribed to. */
  async listen(): Promise<void> {
    const { tools, prompts, resources } = this.#client.getServerCapabilities() ?? {};
    const filter: SubscriptionFilter = {
      ...(tools?.listChanged && { toolsListChanged: true }),
      ...(prompts?.listChanged && { promptsListChanged: true }),
      ...(resources?.listChanged && { resourcesListChanged: true }),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    };
    const before = this.#subscription;
    this.#subscription =
      Object.keys(filter).length === 0 ? Promise.resolve(undefined) : this.#client.listen(filter);
    const [old, subscription] = await Promise.all([before.catch(() => undefined), this.#subscription]);
    await old?.close();
    void subscription?.closed.then((why) => {
      if (why !== 'local') this.#relisten(firstRelistenMs);
    });
  }

  #relisten(waitMs: number): void {
    const again = async (): Promise<void> => {
      if (this.#client.transport !== undefined) await this.listen();
    };
    const later = Math.min(waitMs * 2, longestRelistenMs);
    setTimeout(() => void again().catch(() => this.#relisten(later)), waitMs).unref();
  }
}

function refusedAnswer(id: RequestId, error: unknown): JSONRPCMessage {
  if (!(error instanceof ProtocolError) || error instanceof SdkError) return failedAnswer(id, error);
  const { code, message, data } = error;
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/**
 * Connects a host up to 2025-11-25 to a server that only supports 2026-07-28, and responds to the host's
 * `initialize`.
 * @param options the server
 * @param request the host's `initialize`
 * @param host receives the messages to the host
 * @throws the connection error, if the server does not support 2026-07-28
 */
export async function openTranslatingRelay(
  options: ServerTransportOptions,
  request: JSONRPCRequest,
  host: HostSide,
): Promise<Relay> {
  const { protocolVersion = '', capabilities = {}, clientInfo } = (request.params ?? {}) as HostParams;
  const client = new Client(clientInfo ?? { name: 'unknown', version: '0' }, {
    ...readingMarkedNumbers(),
    capabilities,
    versionNegotiation: { mode: { pin: modernRevision } },
  });
  const relay = new TranslatingRelay(client, host);
  relay.answerFor(capabilities);
  await client.connect(createServerTransport('http', options));
  const instructions = client.getInstructions();
  host.write({
    jsonrpc: '2.0',
    id: request.id,
    result: {
      protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)
        ? protocolVersion
        : LATEST_PROTOCOL_VERSION,
      capabilities: client.getServerCapabilities() ?? {},
      serverInfo: client.getServerVersion() ?? { name: 'unknown', version: '0' },
      ...(instructions === undefined ? {} : { instructions }),
    },
  });
  relay.listen().catch((error: unknown) => host.say(`No notice of changes: ${String(error)}`));
  return relay;
}
