import { randomBytes } from 'node:crypto';
import type { Logger } from '../observability/logger.ts';
import type { McpLike } from './server-source.ts';
import { SessionTransport } from './session-transport.ts';

/** How many sessions there may be, and how long they live unused. */
export interface SessionLimits {
  maxPerPrincipal: number;
  maxTotal: number;
  idleSeconds: number;
}

/** A session of a revision up to 2025-11-25. It belongs to the principal that opened it (T-125, T-126). */
export interface Session {
  readonly id: string;
  readonly principal: string;
  readonly transport: SessionTransport;
  /** The server behind it, once it is connected. */
  server: McpLike | undefined;
  /** Its open GET streams. */
  openStreams: number;
  /** Epoch seconds. */
  usedAt: number;
}

/** The sessions of an endpoint, in memory. */
export interface SessionStore {
  readonly size: number;
  /**
   * Makes room for a session and opens it. At the cap of a principal its own longest unused session gives way; one
   * that is in use never does, and nobody's session gives way to another principal's (T-144).
   */
  open(principal: string): Session | 'too_many_sessions' | 'sessions_exhausted';
  /** Gives a session to the principal it belongs to; to all others it is unknown. Using it keeps it alive. */
  use(id: string, principal: string): Session | undefined;
  /** Ends a session with its streams and its server; a server that fails to close is logged. */
  end(session: Session): Promise<void>;
  /** Ends sessions that were unused for too long. */
  sweep(): Promise<void>;
  /** Ends all sessions. */
  endAll(): Promise<void>;
}

/**
 * Creates the session store. Ids are 256 random bits (B3-10, A12-04).
 * @param keepAliveMs pause between comments on open streams
 * @param now epoch seconds
 */
export function createSessionStore(
  limits: SessionLimits,
  keepAliveMs: number,
  now: () => number,
  logger: Logger,
): SessionStore {
  const byId = new Map<string, Session>();
  // Each principal's sessions, longest unused first.
  const byPrincipal = new Map<string, Set<Session>>();

  const isInUse = ({ transport, openStreams, server }: Session): boolean =>
    transport.isAnswering || openStreams > 0 || server === undefined;
  const isIdle = (session: Session): boolean =>
    !isInUse(session) && now() - session.usedAt >= limits.idleSeconds;

  const remove = (session: Session): void => {
    if (!byId.delete(session.id)) return;
    const own = byPrincipal.get(session.principal);
    own?.delete(session);
    if (own?.size === 0) byPrincipal.delete(session.principal);
  };
  const end = async (session: Session): Promise<void> => {
    remove(session);
    try {
      await session.transport.close();
      await session.server?.close();
    } catch (error) {
      logger.warn({ err: error }, 'an MCP server failed to close');
    }
  };
  const sweep = async (): Promise<void> => {
    await Promise.all([...byId.values()].filter(isIdle).map(end));
  };
  const giveWay = (own: ReadonlySet<Session>): boolean => {
    const unused = [...own].find((session) => !isInUse(session));
    if (unused) void end(unused);
    return unused !== undefined;
  };

  return {
    get size() {
      return byId.size;
    },
    open(principal) {
      const own = byPrincipal.get(principal) ?? new Set<Session>();
      if (own.size >= limits.maxPerPrincipal && !giveWay(own)) return 'too_many_sessions';
      if (byId.size >= limits.maxTotal) void sweep();
      if (byId.size >= limits.maxTotal && !giveWay(own)) return 'sessions_exhausted';

      const id = randomBytes(32).toString('base64url');
      const transport = new SessionTransport({ sessionIdGenerator: () => id, keepAliveMs });
      const session: Session = { id, principal, transport, server: undefined, openStreams: 0, usedAt: now() };
      transport.onclose = () => remove(session);
      byId.set(id, session);
      byPrincipal.set(principal, own.add(session));
      return session;
    },
    use(id, principal) {
      const session = byId.get(id);
      if (session?.principal !== principal) return undefined;
      if (isIdle(session)) {
        void end(session);
        return undefined;
      }
      session.usedAt = now();
      const own = byPrincipal.get(principal);
      own?.delete(session);
      own?.add(session);
      return session;
    },
    end,
    sweep,
    async endAll() {
      await Promise.all([...byId.values()].map(end));
    },
  };
}
