import {
  type JSONRPCMessage,
  McpServer,
  type MessageExtraInfo,
  type RequestId,
  Server,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import { type Refusal, sendRefusal } from '../http/refusal.ts';
import type { Frames, Message, ServerSource } from '../protocol.ts';
import type { ServedMethods } from '../reading/methods.ts';
import { toSdkAuthInfo } from '../sdk/caller.ts';
import { methodNotServed } from '../sdk/json-rpc-errors.ts';
import { createSerializableCheck } from '../sdk/serializable.ts';
import type { StdioConnection, WriteLine } from './lines.ts';

/** Options of the connection. */
export interface ModernConnectionOptions {
  source: ServerSource;
  served: ServedMethods;
  write: WriteLine;
  /** The server ended the connection. */
  onEnded(): void;
  authInfo?: AuthInfo;
  logger: Logger;
}

const noBatches: Refusal = { reason: 'batch_not_in_this_revision' };

/**
 * Opens 2026-07-28 on a stdio connection, over the SDK's own serving of it (discovery, envelopes, subscriptions).
 * @returns undefined if the server does not support this revision: it is not of the SDK's version 2, or it is ready-made
 *   and serves the older revisions
 * @throws errors of `ServerSource.create`
 */
export async function openModernConnection(
  options: ModernConnectionOptions,
): Promise<StdioConnection | undefined> {
  const { source, served, write, onEnded, authInfo, logger } = options;
  if (source.sharing === 'single') return undefined;
  const server = await source.create({ era: 'modern', ...(authInfo && { authInfo }) });
  if (!(server instanceof McpServer || server instanceof Server)) {
    await server.close();
    return undefined;
  }

  const progress = new OpenProgress();
  const checkWritable = createSerializableCheck(logger);
  let isEnding = false;
  const wire: Transport = {
    start: async () => undefined,
    async send(message) {
      const said = message as Message;
      if (!progress.allows(said)) return;
      if (said.method !== undefined && !served.passes(said.method, 'server', 'modern')) return;
      const error = checkWritable(said);
      if (!error) write(said);
      else if (said.method === undefined) write({ jsonrpc: '2.0', id: said.id, error } as Message);
    },
    async close() {
      if (!isEnding) onEnded();
    },
  };
  if (authInfo) nameCaller(server, authInfo);
  const serving = serveStdio(() => server, {
    transport: wire,
    legacy: 'reject',
    onerror: (error) => logger.debug({ err: error }, 'an MCP message over stdio was not served'),
  });
  return {
    async take({ isBatch, list }: Frames): Promise<void> {
      if (isBatch) {
        sendRefusal(noBatches, { json: (_status, body) => write(body as Message) });
        return;
      }
      progress.heard(list);
      for (const message of list) {
        const { id, method } = message;
        // The SDK answers `initialize` with the revisions that it speaks instead.
        const isLeftToSdk = method === undefined || method === 'initialize';
        if (isLeftToSdk || served.passes(method, 'client', 'modern'))
          wire.onmessage?.(message as JSONRPCMessage);
        else if (id !== undefined) write({ jsonrpc: '2.0', id, error: methodNotServed(method) } as Message);
      }
    },
    async end() {
      isEnding = true;
      await serving.close();
    },
  };
}

/**
 * Adds the caller to every message, because the SDK's stdio has none. The server's `connect` gets a transport in front of
 * the SDK's.
 */
function nameCaller(server: McpServer | Server, authInfo: AuthInfo): void {
  const connect = server.connect.bind(server);
  server.connect = (transport) => connect(new CallerTransport(transport, authInfo));
}

class CallerTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #inner: Transport;

  constructor(inner: Transport, authInfo: AuthInfo) {
    this.#inner = inner;
    const caller = { authInfo: toSdkAuthInfo(authInfo) };
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) =>
      this.onmessage?.(message, { ...extra, ...caller });
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }
}

/** Requests of a host for which progress may still be sent: those without a response. */
export class OpenProgress {
  /** Progress tokens by the id of their request. */
  readonly #tokens = new Map<RequestId, unknown>();

  /** Adds the requests of the host, and removes those that it cancels. */
  heard(list: readonly Message[]): void {
    for (const { id, method, params } of list) {
      const meta = params?._meta as Record<string, unknown> | undefined;
      if (method === 'notifications/cancelled') this.#tokens.delete(params?.requestId as RequestId);
      else if (method !== undefined && id !== undefined && meta?.progressToken !== undefined)
        this.#tokens.set(id as RequestId, meta.progressToken);
    }
  }

  /**
   * Returns true if a message of the server may be written: everything but progress of an answered request.
   * @see MCP 2026-07-28 "Progress" (C6-03)
   */
  allows({ id, method, params }: Message): boolean {
    if (method === 'notifications/progress')
      return [...this.#tokens.values()].includes(params?.progressToken);
    if (method === undefined) this.#tokens.delete(id as RequestId);
    return true;
  }
}
