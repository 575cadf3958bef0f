import { randomBytes } from 'node:crypto';
import { principalKey } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { AccessWatch } from '../http/access-watch.ts';
import { toWebRequest } from '../http/exchange.ts';
import type { CallLimit } from '../http/limits.ts';
import { closing, type Refusal } from '../http/refusal.ts';
import type { Serve } from '../http/transport.ts';
import type { Conversations } from '../protocol.ts';
import type { ScopeGate } from '../scopes/scope-gate.ts';
import { SseSession } from './sse-session.ts';

/** Parts of the transport. */
export interface SseTransportOptions {
  conversations: Conversations;
  /** Public URL of the endpoint that messages are posted to, without a query. */
  postUrl: URL;
  /** Judges messages by the scopes of who sends them. */
  gate: Pick<ScopeGate, 'check'>;
  accessWatch: AccessWatch;
  /** Counts the streams of a principal and of all; each that begins is ended once. */
  streams: { begin(principal: string): Refusal | undefined; end(principal: string): void };
  calls: CallLimit;
  /** Idle time of a stream, in milliseconds; 5 minutes by default. */
  idleMs?: number;
  logger: Logger;
}

/** HTTP+SSE: a stream that is opened by GET, and a second endpoint that takes the client's messages. */
export interface SseTransport {
  /** Serves GET: opens a stream and names the address to post to. */
  open: Serve;
  /** Serves POST: takes messages for the stream that the query names. */
  post: Serve;
  /** Ends the streams on which nobody waits for an answer; later ones are refused. */
  endIdle(): Promise<void>;
  /** Ends all streams, what runs on them with an error; later ones are refused. */
  close(): Promise<void>;
}

const defaultIdleMs = 5 * 60_000;

/**
 * Creates the transport of 2024-11-05. Each stream is a session of its own, bound to the principal that opened it: to
 * all others there is none (B2-06, T-125).
 * @see MCP 2024-11-05 transports "HTTP with SSE" (B2-01 to B2-07)
 */
export function createSseTransport(options: SseTransportOptions): SseTransport {
  const { postUrl, gate, streams, idleMs = defaultIdleMs } = options;
  const { conversations, accessWatch, calls, logger } = options;
  const sessions = new Map<string, SseSession>();
  let isClosing = false;

  return {
    async open({ authInfo, reply }) {
      if (isClosing) return closing;
      const principal = principalKey(authInfo);
      const refusal = streams.begin(principal);
      if (refusal) return refusal;

      const id = randomBytes(32).toString('base64url');
      const stream = reply.stream();
      const onEnd = (): void => {
        sessions.delete(id);
        streams.end(principal);
      };
      const shared = { conversations, accessWatch, calls, idleMs, logger };
      const session = new SseSession({ ...shared, principal, authInfo, stream, onEnd });
      if (session.isEnded) return undefined;
      sessions.set(id, session);
      stream.send(`${postUrl.pathname}?sessionId=${id}`, undefined, 'endpoint');
      return undefined;
    },

    async post(exchange, posted) {
      if (!posted) throw new Error('The endpoint of messages serves requests with a body alone.');
      const { authInfo, query, reply } = exchange;
      const session = sessions.get(new URLSearchParams(query).get('sessionId') ?? '');
      if (session?.principal !== principalKey(authInfo)) return { reason: 'session_unknown' };
      for (let isJudged = false; !isJudged; ) {
        const { server } = session;
        const lacked = await gate.check(posted.messages, authInfo, server);
        if (lacked) return lacked;
        // A server that began meanwhile judges the messages by its own rules as well.
        isJudged = session.server === server;
      }
      if (session.isEnded) return { reason: 'session_unknown' };
      const refusal = session.begin(posted, authInfo);
      if (refusal) return refusal;
      reply.empty(202);
      session.take(posted, { authInfo, request: () => toWebRequest(exchange, postUrl) });
      return undefined;
    },

    async endIdle() {
      isClosing = true;
      const idle = [...sessions.values()].filter(({ isIdle }) => isIdle);
      await Promise.all(idle.map((session) => session.end()));
    },

    async close() {
      isClosing = true;
      await Promise.all([...sessions.values()].map((session) => session.stop()));
    },
  };
}
