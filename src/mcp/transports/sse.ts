import { randomBytes } from 'node:crypto';
import { isInitializeRequest, type RequestId } from '@modelcontextprotocol/server';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { AccessWatch } from '../access-watch.ts';
import type { Message } from '../checks/messages.ts';
import type {
  Conversation,
  Conversations,
  InitializeParams,
  JsonRpcError,
  Listener,
  Sender,
} from '../conversations/conversation.ts';
import { type Exchange, toWebRequest } from '../exchange.ts';
import type { Refusal } from '../refusal.ts';
import type { EventStream } from '../streams/reply.ts';
import type { Posted, Serve } from './transport.ts';

/** What the transport is made of. */
export interface SseTransportOptions {
  conversations: Conversations;
  /** Public URL of the endpoint that messages are posted to, without a query. */
  postUrl: URL;
  accessWatch: AccessWatch;
  /** Counts the streams of a principal and of all; every stream that may begin is ended once. */
  streams: { begin(principal: string): Refusal | undefined; end(principal: string): void };
  /** How long a stream lives on which the client asks nothing and waits for nothing, in milliseconds; 5 minutes by default. */
  idleMs?: number;
  logger: Logger;
}

/** HTTP+SSE: a stream that is opened by GET, and a second endpoint that takes the client's messages. */
export interface SseTransport {
  /** Serves GET: opens a stream and names the address to post to. */
  open: Serve;
  /** Serves POST: takes messages for the stream that the query names. */
  post: Serve;
  /** Ends all streams; later ones are refused. */
  close(): Promise<void>;
}

/** One stream with its conversation. It belongs to the principal that opened it (B2-06). */
interface Session {
  /** 256 random bits. */
  readonly id: string;
  readonly principal: string;
  readonly stream: EventStream;
  readonly idle: NodeJS.Timeout;
  /** Ids of requests that are being answered. */
  readonly running: Set<RequestId>;
  /** The access the stream hangs on, and what stops watching it. */
  authInfo: AuthInfo;
  unwatch: () => void;
  state: 'new' | 'opening' | 'open';
  conversation?: Conversation;
  /** The revision agreed on. */
  revision?: string;
}

const defaultIdleMs = 5 * 60_000;

const notInitialized: JsonRpcError = {
  code: -32600,
  message: 'Invalid request: send initialize first, once on every stream.',
};
const initializedBefore: JsonRpcError = {
  code: -32600,
  message: 'Invalid request: this stream is initialized already. Open a new one to begin again.',
};
const notStarted: JsonRpcError = { code: -32603, message: 'The MCP server could not be started.' };

/**
 * Creates the transport of 2024-11-05. A session is its stream: it begins and ends with it, and so does the
 * conversation on it.
 * @see MCP 2024-11-05 transports "HTTP with SSE" (B2-01 to B2-07)
 */
export function createSseTransport(options: SseTransportOptions): SseTransport {
  const { conversations, postUrl, accessWatch, streams, idleMs = defaultIdleMs, logger } = options;
  const sessions = new Map<string, Session>();
  let closing = false;

  const endConversation = async (conversation: Conversation): Promise<void> => {
    try {
      await conversation.end();
    } catch (error) {
      logger.warn({ err: error }, 'an MCP conversation failed to end');
    }
  };

  const end = async (session: Session): Promise<void> => {
    if (!sessions.delete(session.id)) return;
    clearTimeout(session.idle);
    session.unwatch();
    streams.end(session.principal);
    session.stream.end();
    if (session.conversation) await endConversation(session.conversation);
  };

  /** The newest token counts: a client that refreshes its token keeps its stream (A12-04). */
  const watch = (session: Session, authInfo: AuthInfo): void => {
    session.unwatch();
    session.authInfo = authInfo;
    session.unwatch = accessWatch.watch(authInfo, () => void end(session));
  };

  const listenFor = (session: Session): Listener => ({
    hear(message) {
      if (message.method === undefined && message.id !== undefined) session.running.delete(message.id);
      session.stream.send(JSON.stringify(message));
    },
    ended: () => void end(session),
  });

  const initialize = async (session: Session, id: RequestId, params: InitializeParams, sender: Sender) => {
    session.state = 'opening';
    const opening = await conversations.open(params, sender, listenFor(session)).catch((error: unknown) => {
      logger.error({ err: error }, 'an MCP server could not be started');
      return { error: notStarted };
    });
    if ('error' in opening) {
      session.state = 'new';
      return answer(session, id, { error: opening.error });
    }
    if (!sessions.has(session.id)) return endConversation(opening.conversation);
    session.conversation = opening.conversation;
    session.revision = opening.result.protocolVersion;
    session.state = 'open';
    answer(session, id, { result: opening.result });
  };

  const take = (session: Session, message: Message, sender: Sender): void => {
    const { id, method, params } = message;
    if (session.conversation) {
      if (method === 'notifications/cancelled') session.running.delete(params?.requestId as RequestId);
      session.conversation.say(message, sender);
    } else if (method !== undefined && id !== undefined) {
      answer(session, id, method === 'ping' ? { result: {} } : { error: notInitialized });
    }
  };

  return {
    async open({ authInfo, reply }) {
      if (closing) return { reason: 'closing', headers: { 'Retry-After': '5' } };
      const principal = principalKey(authInfo);
      const refusal = streams.begin(principal);
      if (refusal) return refusal;

      const id = randomBytes(32).toString('base64url');
      const stream = reply.stream();
      const idle = setTimeout(() => {
        if (session.running.size > 0) idle.refresh();
        else void end(session);
      }, idleMs).unref();
      const session: Session = {
        id,
        principal,
        stream,
        idle,
        running: new Set(),
        authInfo,
        unwatch: () => undefined,
        state: 'new',
      };
      sessions.set(id, session);
      watch(session, authInfo);
      stream.onClose(() => void end(session));
      stream.send(`${postUrl.pathname}?sessionId=${id}`, undefined, 'endpoint');
      return undefined;
    },

    async post(exchange, posted) {
      if (!posted) throw new Error('An SSE message endpoint takes requests with a body alone.');
      const session = sessions.get(new URLSearchParams(exchange.query).get('sessionId') ?? '');
      if (session?.principal !== principalKey(exchange.authInfo)) return { reason: 'session_unknown' };
      const refusal = checkPosted(session, posted);
      if (refusal) return refusal;

      session.idle.refresh();
      if (exchange.authInfo.expiresAt > session.authInfo.expiresAt) watch(session, exchange.authInfo);
      exchange.reply.empty(202);
      const sender = senderOf(exchange, postUrl);
      const [first] = posted.messages.requests;
      for (const { id } of posted.messages.requests) session.running.add(id);
      if (first && isInitializeRequest(posted.value)) {
        if (session.state === 'new')
          await initialize(session, first.id, posted.value.params as InitializeParams, sender);
        else answer(session, first.id, { error: initializedBefore });
      } else for (const message of posted.messages.list) take(session, message, sender);
      return undefined;
    },

    async close() {
      closing = true;
      await Promise.all([...sessions.values()].map(end));
    },
  };
}

/** Answers a request of the client on its stream, without the MCP server. */
function answer(
  { running, stream }: Session,
  id: RequestId,
  outcome: { result: unknown } | { error: JsonRpcError },
): void {
  running.delete(id);
  stream.send(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
}

/** Batches are of 2025-03-26 alone, on every transport (C1-02); an id names one running request (T-142). */
function checkPosted({ revision, running }: Session, { value, messages }: Posted): Refusal | undefined {
  const { isBatch, list, requests } = messages;
  if (isBatch && revision !== '2025-03-26') return { reason: 'batch_not_in_this_revision' };
  const ids = requests.map(({ id }) => id);
  const [only] = isBatch ? [] : ids;
  const about = only === undefined ? {} : { id: only };
  if (list[0]?.method === 'initialize' && !isInitializeRequest(value))
    return { reason: 'initialize_incomplete', ...about };
  if (new Set(ids).size < ids.length || ids.some((id) => running.has(id)))
    return { reason: 'request_id_in_use', ...about };
  return undefined;
}

function senderOf(exchange: Exchange, url: URL): Sender {
  return { authInfo: exchange.authInfo, request: () => toWebRequest(exchange, url) };
}
