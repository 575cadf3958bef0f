import { isInitializeRequest } from '@modelcontextprotocol/server';
import { principalKey } from '../oauth/auth-info.ts';
import type { Logger } from '../observability/logger.ts';
import { toSdkAuthInfo } from './caller.ts';
import type { Messages } from './checks/messages.ts';
import { type Answer, type Exchange, toWebRequest } from './exchange.ts';
import type { Refusal } from './refusal.ts';
import type { McpServerSource } from './server-source.ts';
import { createSessionStore, type Session, type SessionLimits } from './sessions.ts';

/** The body of a POST: the messages, and the JSON they were read from. */
export interface Posted {
  value: unknown;
  messages: Messages;
}

/** Serves the revisions up to 2025-11-25, in sessions. */
export interface LegacyEra {
  /** Finds the session of a request that does not open one. */
  findSession(exchange: Exchange): Session | Refusal;
  /** Opens a session with an initialize request. */
  initialize(exchange: Exchange, posted: Posted): Promise<Answer | Refusal>;
  /** Serves a request of a session. */
  serve(session: Session, exchange: Exchange, posted?: Posted): Promise<Answer | Refusal>;
  /** Ends all sessions. */
  close(): Promise<void>;
}

/** What sessions are made of. */
export interface LegacyEraOptions {
  source: McpServerSource;
  /** The endpoint's public URL. */
  url: URL;
  resourceMetadataUrl: string;
  limits: SessionLimits;
  keepAliveMs: number;
  /** Epoch seconds. */
  now: () => number;
  logger: Logger;
}

/** The one revision with batches. */
const revisionWithBatches = '2025-03-26';

/** Longest time a timer of Node can wait, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

const sweepIntervalMs = 60_000;

/**
 * Creates the serving of the revisions up to 2025-11-25: one SDK transport and one MCP server a session, each session
 * bound to the principal that opened it.
 * @see MCP 2025-11-25 transports "Session Management"
 */
export function createLegacyEra(options: LegacyEraOptions): LegacyEra {
  const { source, url, resourceMetadataUrl, keepAliveMs, now, logger } = options;
  const sessions = createSessionStore(options.limits, keepAliveMs, now, logger);
  const sweeper = setInterval(() => void sessions.sweep(), sweepIntervalMs);
  sweeper.unref();

  const hand = async (session: Session, exchange: Exchange, posted?: Posted): Promise<Response> =>
    session.transport.handleRequest(toWebRequest(exchange, url), {
      authInfo: toSdkAuthInfo(exchange.authInfo, resourceMetadataUrl),
      ...(posted === undefined ? {} : { parsedBody: posted.value }),
    });

  const serve = async (session: Session, exchange: Exchange, posted?: Posted): Promise<Answer | Refusal> => {
    if (!posted) {
      const response = await hand(session, exchange);
      if (exchange.method === 'DELETE' && response.ok) await sessions.end(session);
      return exchange.method === 'GET' && response.ok
        ? holdStream(session, response, exchange.authInfo.expiresAt)
        : { response };
    }
    if (posted.messages.isBatch && !mayBatch(session, exchange))
      return { reason: 'batch_not_in_this_revision' };
    const ids = posted.messages.requests.map(({ id }) => id);
    if (!session.transport.begin(ids)) return { reason: 'request_id_in_use' };
    const response = await hand(session, exchange, posted).catch((error: unknown) => {
      session.transport.forget(ids);
      throw error;
    });
    if (!response.ok) session.transport.forget(ids);
    for (const { method, params } of posted.messages.list) {
      const cancelled = params?.requestId;
      if (
        method === 'notifications/cancelled' &&
        (typeof cancelled === 'string' || typeof cancelled === 'number')
      )
        await session.transport.cancel(cancelled);
    }
    return { response };
  };

  /** A GET stream keeps its session in use, and ends with the token that opened it (A12-04). */
  const holdStream = (session: Session, response: Response, expiresAt: number): Answer => {
    session.openStreams++;
    const lifeMs = Math.min(Math.max(0, (expiresAt - now()) * 1000), maxTimerMs);
    const timer = setTimeout(() => session.transport.closeStandaloneSSEStream(), lifeMs);
    timer.unref();
    return {
      response,
      ended: () => {
        clearTimeout(timer);
        session.openStreams--;
        session.usedAt = now();
      },
    };
  };

  return {
    findSession({ headers, authInfo }) {
      const id = headers['mcp-session-id'];
      if (id === undefined) return { reason: 'session_missing' };
      return sessions.use(String(id), principalKey(authInfo)) ?? { reason: 'session_unknown' };
    },
    async initialize(exchange, posted) {
      const [request] = posted.messages.requests;
      if (!isInitializeRequest(posted.value))
        return { reason: 'initialize_incomplete', ...(request ? { id: request.id } : {}) };
      const session = sessions.open(principalKey(exchange.authInfo));
      if (typeof session === 'string') return { reason: session, headers: { 'Retry-After': '60' } };
      try {
        const server = await source({ era: 'legacy', authInfo: exchange.authInfo });
        await server.connect(session.transport);
        session.server = server;
        const answer = await serve(session, exchange, posted);
        if ('reason' in answer || !answer.response.ok) await sessions.end(session);
        return answer;
      } catch (error) {
        await sessions.end(session);
        throw error;
      }
    },
    serve,
    async close() {
      clearInterval(sweeper);
      await sessions.endAll();
    },
  };
}

/** Batches are of 2025-03-26 alone; leaving the version header out does not bring them back (B3-13, B3-14, T-133). */
function mayBatch({ transport }: Session, { headers }: Exchange): boolean {
  const named = headers['mcp-protocol-version'] ?? transport.protocolVersion;
  return transport.protocolVersion === revisionWithBatches && named === revisionWithBatches;
}
