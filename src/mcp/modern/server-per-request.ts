import { createMcpHandler, type JSONRPCMessage, McpServer, Server } from '@modelcontextprotocol/server';
import type { Logger } from '../../observability/logger.ts';
import { headerOf } from '../http/dispatch.ts';
import { smallBytes } from '../http/held-bytes.ts';
import { textLength } from '../http/node-reply.ts';
import type { Refusal } from '../http/refusal.ts';
import {
  type Answer,
  type Backend,
  type Call,
  type Caller,
  type Change,
  type JsonRpcError,
  type McpLike,
  type Message,
  modernRevision,
  type RequestMessage,
  type ServerSource,
} from '../protocol.ts';
import { changeOf, narrowed } from '../reading/changes.ts';
import { messagesOf } from '../reading/messages.ts';
import type { ScopeGate } from '../scopes/scope-gate.ts';
import { callerOf, toSdkAuthInfo } from '../sdk/caller.ts';
import { type CheckSerializable, createSerializableCheck, summarizeRequest } from '../sdk/serializable.ts';
import { progressTokenOf, withIds } from './envelope.ts';
import { failedInside, refusalAnswer, serverGone } from './error-answers.ts';
import { discoverBy } from './internal-call.ts';
import { accountOf } from './subscriptions.ts';

/** Options of a server for each request. */
export interface ServerPerRequestOptions {
  source: ServerSource;
  /** The endpoint's public URL. */
  url: URL;
  /** Checks the scopes that the server of a request declares. */
  gate: Pick<ScopeGate, 'check'>;
  /** Takes the changes of servers. */
  publish(change: Change): void;
  /** Serves requests for which a server of an older era was made. */
  older: Backend;
  logger: Logger;
}

/** Status of the SDK's empty response if a server is closed before it has responded. */
const serverClosed = 499;

/** State of a request while the SDK handles it. */
interface Passage {
  call: Call;
  server?: McpLike;
  refusal?: Refusal;
  /** A large result. It bypasses the SDK, which would serialize and parse it again, with several times its memory. */
  large?: Record<string, unknown>;
}

/**
 * Creates the backend with a server for each request, made and bound by the SDK's handler. Messages are intercepted as
 * they leave the server, so that they take the same way as those of a shared server.
 */
export function createServerPerRequest(options: ServerPerRequestOptions): Backend {
  const { source, url, gate, publish, older, logger } = options;
  const passages = new WeakMap<Request, Passage>();
  const checkWritable = createSerializableCheck(logger);
  /** A server made in vain for one request is not used for the next. */
  let isOlder = false;

  /** Runs code of the server's author, and logs its errors. */
  const attempt = async <T>(summary: string, work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      logger.error({ err: error }, summary);
      throw error;
    }
  };

  const handler = createMcpHandler(
    async ({ authInfo, requestInfo }) => {
      const caller = callerOf({ http: { ...(authInfo ? { authInfo } : {}) } });
      const isTheirs = source.sharing === 'each';
      const server = await attempt('an MCP server could not be made', () =>
        source.create({ era: 'modern', ...(isTheirs ? { authInfo: caller } : {}) }),
      );
      if (!(server instanceof McpServer || server instanceof Server)) {
        isOlder = true;
        await server.close();
        throw new Error('This MCP server does not speak protocol revision 2026-07-28.');
      }
      const passage = requestInfo && passages.get(requestInfo);
      if (!passage) return server;
      const { call } = passage;
      const refusal = await attempt('the scope rules of an MCP server failed', () =>
        gate.check(messagesOf(call.request), caller, server),
      );
      if (refusal) {
        passage.refusal = refusal;
        await server.close();
        throw new Error('The access token lacks a scope.');
      }
      passage.server = server;
      const tell = (change: Change): void => publish(isTheirs ? narrowed(change, accountOf(caller)) : change);
      tap(server, passage, { tell, checkWritable });
      return server;
    },
    {
      legacy: 'reject',
      keepAliveMs: 0,
      onerror: (error) => logger.debug({ err: error }, 'an MCP request was not served'),
    },
  );

  const begin = (call: Call): (() => void) => {
    if (isOlder) return older.begin(call);
    const { request, caller } = call;
    const leaving = new AbortController();
    let cancel = (): void => leaving.abort();
    const web = new Request(requestFor(request, caller, url), { signal: leaving.signal });
    const passage: Passage = { call };
    // The SDK reads no id beyond 2^53.
    const parsedBody = withIds(request, innerId);
    passages.set(web, passage);
    handler
      .fetch(web, { authInfo: toSdkAuthInfo(caller.authInfo), parsedBody })
      .then(async (response) => {
        if (leaving.signal.aborted) return;
        if (isOlder) cancel = older.begin(call);
        else if (passage.refusal) call.answer(refusalAnswer(passage.refusal));
        else if (response.status === serverClosed) call.answer(serverGone);
        else call.answer(await readAnswer(response, passage));
      })
      .catch((error: unknown) => {
        if (leaving.signal.aborted) return;
        logger.error({ err: error }, 'an MCP request failed');
        call.answer(failedInside);
      });
    return () => cancel();
  };

  return {
    get checksEnvelope(): Backend['checksEnvelope'] {
      return isOlder ? 'nothing' : 'all';
    },
    checksScopesItself: true,
    begin,
    notify(notification, caller) {
      if (isOlder) return older.notify(notification, caller);
      const authInfo = toSdkAuthInfo(caller.authInfo);
      handler
        .fetch(caller.request(), { authInfo, parsedBody: notification })
        .catch((error: unknown) => logger.debug({ err: error }, 'an MCP notification was not taken'));
    },
    discover: (caller) => discoverBy(begin, caller),
    // The SDK checks the mirrored parameters of the servers that it has made.
    inputSchemaOf: async (...asked) => (isOlder ? older.inputSchemaOf?.(...asked) : undefined),
    listen: (...listening) => (isOlder && older.listen?.(...listening)) || (() => {}),
    close: () => handler.close(),
  };
}

/** Returns the HTTP request that the SDK checks: the client's, or one with suitable headers for a request of Gatehouse. */
function requestFor({ method }: RequestMessage, caller: Caller, url: URL): Request {
  if (headerOf(caller.headers, 'mcp-method')?.toString().trim() === method) return caller.request();
  const headers = {
    'content-type': 'application/json',
    'mcp-protocol-version': modernRevision,
    'mcp-method': method,
  };
  return new Request(url, { method: 'POST', headers });
}

/** Receiver of the server's changes, and the check of its messages. */
interface Tap {
  tell(change: Change): void;
  checkWritable: CheckSerializable;
}

/** Intercepts notifications as they leave the server. The response goes to the SDK, which sets its status. */
function tap(server: McpServer | Server, passage: Passage, { tell, checkWritable }: Tap): void {
  const { call } = passage;
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = async (message: JSONRPCMessage, options) => {
      const isNotification = 'method' in message && !('id' in message);
      const error = checkWritable(message as Message, summarizeRequest(call.request));
      if (!isNotification) {
        const unwritten = { jsonrpc: '2.0', id: (message as Message).id, error } as JSONRPCMessage;
        if (error) return send(unwritten, options);
        if (!('result' in message) || textLength(message) <= smallBytes) return send(message, options);
        passage.large = message.result;
        return send({ ...message, result: {} }, options);
      }
      if (error) return;
      const change = changeOf(message as Message);
      if (change) tell(change);
      else if (options?.relatedRequestId === innerId) call.notify(withOwnToken(message as Message, call));
    };
    return connect(transport);
  };
}

/** Id of each request at the server that is made for it alone. */
const innerId = 1;

/** Sends progress with the client's own token. */
function withOwnToken(notification: Message, { request }: Call): Message {
  if (notification.method !== 'notifications/progress') return notification;
  return { ...notification, params: { ...notification.params, progressToken: progressTokenOf(request) } };
}

async function readAnswer(response: Response, { server: by, large }: Passage): Promise<Answer> {
  const { status } = response;
  const { result, error } = (await response.json()) as {
    result: Record<string, unknown>;
    error?: JsonRpcError;
  };
  return error ? { status, error } : { status, result: large ?? result, ...(by ? { by } : {}) };
}
