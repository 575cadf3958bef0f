import {
  type JSONRPCMessage,
  McpServer,
  type MessageExtraInfo,
  PerRequestHTTPServerTransport,
  type RequestId,
  Server,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import {
  type Backend,
  type Call,
  type Caller,
  type Change,
  type JsonRpcError,
  type McpLike,
  type Message,
  modernRevision,
} from '../protocol.ts';
import { changeOf } from '../reading/changes.ts';
import { lazyRequest, toSdkAuthInfo } from '../sdk/caller.ts';
import { createSerializableCheck, summarizeRequest } from '../sdk/serializable.ts';
import { progressTokenOf, withIds } from './envelope.ts';
import { serverGone } from './error-answers.ts';
import { discoverBy } from './internal-call.ts';
import { createSchemaLookup } from './mirrored-headers.ts';

/** HTTP status of errors that the SDK returns before a handler runs. Errors of handlers have 200. */
const refusalStatus = new Map<number, number>([
  [errorCodes.parseError, 400],
  [errorCodes.invalidRequest, 400],
  [errorCodes.methodNotFound, 404],
  [errorCodes.invalidParams, 400],
  [errorCodes.headerMismatch, 400],
  [errorCodes.unsupportedProtocolVersion, 400],
]);

/** Notifications of clients that name request ids, which mean nothing to a shared server. */
const aboutRequests = new Set(['notifications/cancelled', 'notifications/progress']);

/** Options of one server for all callers. */
export interface ModernSharedServerOptions {
  server: McpLike;
  /** Takes the changes of the server. */
  publish(change: Change): void;
  /** The server ended the connection by itself. */
  onEnd(): void;
  logger: Logger;
}

/**
 * Connects one server of the SDK's version 2 for all callers and all their requests. Ids and progress tokens are
 * replaced by unique ones on the way in and put back on the way out, so that no answer, progress or message reaches
 * another caller whatever ids the clients choose (T-127).
 * @returns undefined if the server does not list 2026-07-28 among its `supportedProtocolVersions`
 */
export async function connectSharedServer(options: ModernSharedServerOptions): Promise<Backend | undefined> {
  const { server, publish, onEnd } = options;
  const checkWritable = createSerializableCheck(options.logger);
  const running = new InFlightMap<RequestId, Call>();
  let lastId = 0;
  /** Id of the request that is being sent: an error that returns synchronously is not from a handler. */
  let handingOver: number | undefined;

  const hear = (message: JSONRPCMessage, relatedTo?: RequestId): void => {
    if (!('method' in message)) hearAnswer(message);
    else if ('id' in message) refuseRequest(message.id);
    else hearNotification(message as Message, relatedTo);
  };

  const hearNotification = (notification: Message, relatedTo?: RequestId): void => {
    const call = relatedTo === undefined ? undefined : running.get(relatedTo);
    if (checkWritable(notification, call && summarizeRequest(call.request))) return;
    const change = changeOf(notification);
    if (change?.method === 'notifications/tools/list_changed') schemas.forget();
    if (change) publish(change);
    else if (notification.method === 'notifications/progress') hearProgress(notification.params);
    else call?.notify(notification);
  };

  const hearAnswer = (message: {
    id?: RequestId | undefined;
    result?: object;
    error?: JsonRpcError;
  }): void => {
    const { id, result } = message;
    const call = id === undefined ? undefined : running.get(id);
    if (!call || id === undefined) return;
    running.delete(id);
    const error = checkWritable(message as Message, summarizeRequest(call.request)) ?? message.error;
    call.answer(
      error
        ? { status: statusOf(error.code, id === handingOver), error }
        : { status: 200, by: server, result: result as Record<string, unknown> },
    );
  };

  const hearProgress = (params: Record<string, unknown> = {}): void => {
    const call = running.get(params.progressToken as RequestId);
    const progressToken = call && progressTokenOf(call.request);
    if (progressToken === undefined) return;
    call?.notify({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { ...params, progressToken },
    });
  };

  /** This revision has no requests from servers (B5-13). */
  const refuseRequest = (id: RequestId): void => {
    const error = {
      code: errorCodes.methodNotFound,
      message: 'This protocol revision has no requests from servers to clients.',
    };
    deliver({ jsonrpc: '2.0', id, error });
  };

  let isConnected = false;
  const transport = new SharedServerTransport(hear, () => {
    if (!isConnected) return;
    for (const call of running.values()) call.answer(serverGone);
    running.clear();
    onEnd();
  });
  const deliver: SharedServerTransport['deliver'] = (...said) => transport.deliver(...said);

  const extraOf = (caller: Caller): MessageExtraInfo => ({
    classification,
    authInfo: toSdkAuthInfo(caller.authInfo),
    request: lazyRequest(caller),
  });

  const begin = (call: Call): (() => void) => {
    const { request, caller } = call;
    const id = ++lastId;
    running.set(id, call);
    const outer = handingOver;
    handingOver = id;
    try {
      deliver(withIds(request, id), extraOf(caller));
    } finally {
      handingOver = outer;
    }
    return () => {
      if (!running.delete(id)) return;
      deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    };
  };

  const schemas = createSchemaLookup(server, begin);
  await transport.open(server);
  if (!isBound(server)) {
    await server.close();
    return undefined;
  }
  isConnected = true;
  return {
    server,
    checksEnvelope: 'all',
    begin,
    notify(notification, caller) {
      if (notification.method === undefined || aboutRequests.has(notification.method)) return;
      deliver(notification as JSONRPCMessage, extraOf(caller));
    },
    discover: (caller) => discoverBy(begin, caller),
    inputSchemaOf: schemas.find,
    close: () => server.close(),
  };
}

/**
 * Returns true if the SDK took the connection for one of 2026-07-28, which it does if the server lists the revision.
 */
function isBound(server: McpLike): boolean {
  const inner = server instanceof McpServer ? server.server : server;
  return inner instanceof Server && inner.getNegotiatedProtocolVersion() === modernRevision;
}

function statusOf(code: number, atOnce: boolean): number {
  // Its status is 400 wherever it comes from (C3-05).
  if (code === errorCodes.missingRequiredClientCapability) return 400;
  return (atOnce ? refusalStatus.get(code) : undefined) ?? 200;
}

/** Context that the server gets with every message. */
const classification = { era: 'modern', revision: modernRevision } as const;

/** Takes a message of a server. `relatedTo` is the id of the request to which it belongs, if known. */
export type Hear = (message: JSONRPCMessage, relatedTo?: RequestId) => void;

/**
 * A transport for all requests to a server. The SDK binds a server to 2026-07-28 if its transport is of the class that
 * this one extends. Messages are then sent as with any other transport.
 */
export class SharedServerTransport extends PerRequestHTTPServerTransport {
  readonly #hear: Hear;
  #onEnd: (() => void) | undefined;

  /** @param onEnd called once, when either side ended the connection */
  constructor(hear: Hear, onEnd: () => void) {
    super({ classification });
    this.#hear = hear;
    this.#onEnd = onEnd;
  }

  /** Connects a server. @throws errors of its `connect` */
  async open(server: McpLike): Promise<void> {
    await server.connect(this);
  }

  /** Sends the server a message. */
  deliver(message: JSONRPCMessage, extra: MessageExtraInfo = { classification }): void {
    this.onmessage?.(message, extra);
  }

  override async start(): Promise<void> {}

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#hear(message, options?.relatedRequestId);
  }

  override async close(): Promise<void> {
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    if (!onEnd) return;
    this.onclose?.();
    onEnd();
  }
}
