import { principalKey } from '../../oauth/auth-info.ts';
import { headerOf } from '../http/dispatch.ts';
import { type Exchange, type Posted, type Serve, toWebRequest } from '../http/exchange.ts';
import type { CallLimit } from '../http/limits.ts';
import { type Refusal, sessionMoves, tooManyCalls } from '../http/refusal.ts';
import { legacyRevisions, revisionWithBatches } from '../protocol.ts';
import { readInitialize } from '../reading/messages.ts';
import type { ScopeGate } from '../scopes/scope-gate.ts';
import { NotRestored } from './restore.ts';
import type { Session } from './session.ts';
import { SessionMoves, type SessionRegistry } from './session-registry.ts';
import { parseEventId } from './session-streams.ts';

/** Parts of the transport. */
export interface StreamableHttpOptions {
  sessions: SessionRegistry;
  /** The endpoint's public URL. */
  url: URL;
  calls: CallLimit;
  /** Checks the scopes of messages of a session. */
  gate: Pick<ScopeGate, 'check'>;
}

/**
 * Creates the transport of 2025-03-26 to 2025-11-25: POST, the GET stream and DELETE on one path, in sessions that
 * survive a restart.
 * @see MCP 2025-11-25 transports "Streamable HTTP"
 */
export function createStreamableHttp({ sessions, url, calls, gate }: StreamableHttpOptions): Serve {
  const initialize = async (exchange: Exchange, posted: Posted): Promise<Refusal | undefined> => {
    const [request] = posted.messages.requests;
    const params = request && readInitialize(request);
    if (!params) return { reason: 'initialize_incomplete', ...(request ? { id: request.id } : {}) };
    const { authInfo, reply } = exchange;
    const principal = principalKey(authInfo);
    if (!calls.begin(principal)) return { ...tooManyCalls, id: request.id };
    const opened = await sessions
      .open(params, { authInfo, request: () => toWebRequest(exchange, url) })
      .finally(() => calls.end(principal));
    if ('reason' in opened)
      return { reason: opened.reason, headers: { 'Retry-After': '60' }, id: request.id };
    const answer = { jsonrpc: '2.0', id: request.id };
    if ('error' in opened) reply.json(200, { ...answer, error: opened.error });
    else reply.json(200, { ...answer, result: opened.result }, { 'Mcp-Session-Id': opened.session.id });
    return undefined;
  };

  /** A header that is absent says nothing; the session knows its revision (B3-17). */
  const checkVersion = ({ headers }: Exchange): Refusal | undefined => {
    const version = headerOf(headers, 'mcp-protocol-version');
    if (version === undefined || legacyRevisions.includes(String(version).trim())) return undefined;
    return { reason: 'protocol_version_unknown', data: { supported: legacyRevisions } };
  };

  const openStream = async (session: Session, exchange: Exchange): Promise<Refusal | undefined> => {
    const last = headerOf(exchange.headers, 'last-event-id');
    if (last === undefined) {
      await session.streams.listen(exchange);
      return undefined;
    }
    const place = parseEventId(String(last));
    return place ? session.streams.resume(exchange, place) : { reason: 'event_unknown' };
  };

  /** Serves a session that its server rejects after a restart: requests get the reason, and DELETE ends it. */
  const answerNotRestored = async (
    { key, error }: NotRestored,
    { method, reply }: Exchange,
    posted: Posted | undefined,
  ): Promise<undefined> => {
    if (method === 'DELETE') {
      await sessions.endByKey(key);
      reply.empty(200);
      return;
    }
    const { requests, isBatch } = posted?.messages ?? { requests: [], isBatch: false };
    const answers = requests.map(({ id }) => ({ jsonrpc: '2.0', id, error }));
    if (answers.length > 0) reply.json(200, isBatch ? answers : answers[0]);
    else reply.json(503, { jsonrpc: '2.0', id: null, error });
  };

  const serveSession: Serve = async (exchange, posted) => {
    const id = headerOf(exchange.headers, 'mcp-session-id');
    if (id === undefined) return { reason: 'session_missing' };
    let session: Session | undefined;
    try {
      const isForRunning = posted !== undefined && posted.messages.requests.length === 0;
      session = await sessions.use(String(id), exchange.authInfo, isForRunning);
    } catch (error) {
      if (error instanceof NotRestored) return answerNotRestored(error, exchange, posted);
      if (error instanceof SessionMoves) return sessionMoves;
      throw error;
    }
    if (!session) return { reason: 'session_unknown' };
    if (posted) {
      if (posted.messages.isBatch && !mayBatch(session, exchange))
        return { reason: 'batch_not_in_this_revision' };
      const lacked = await gate.check(posted.messages, exchange.authInfo, session.server);
      return lacked ?? session.post(exchange, posted);
    }
    if (exchange.method === 'GET') return session.refusal ?? openStream(session, exchange);
    await sessions.end(session);
    exchange.reply.empty(200);
    return undefined;
  };

  return async (exchange, posted) => {
    if (posted?.messages.list[0]?.method === 'initialize') return initialize(exchange, posted);
    return checkVersion(exchange) ?? serveSession(exchange, posted);
  };
}

/** Batches are of 2025-03-26 alone; leaving the version header out does not bring them back (B3-13, B3-14, T-133). */
function mayBatch({ protocolVersion }: Session, { headers }: Exchange): boolean {
  const named = headerOf(headers, 'mcp-protocol-version') ?? protocolVersion;
  return protocolVersion === revisionWithBatches && named === revisionWithBatches;
}
