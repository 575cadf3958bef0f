import { endedWithin } from '../../collections/closing.ts';
import { type AuthInfo, clientOfPrincipal, principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import type { EventRetention, McpSessionStore, StoredSession } from '../../storage/mcp-sessions.ts';
import type { AccessWatch } from '../http/exchange.ts';
import { type CallLimit, Deadlines } from '../http/limits.ts';
import { ServedElsewhere, type SessionLease, type SessionOwnership } from '../peers.ts';
import type {
  Conversations,
  InitializeParams,
  InitializeResult,
  JsonRpcError,
  Seal,
  Sender,
} from '../protocol.ts';
import { createEventLog } from './event-log.ts';
import { restoreConversation } from './restore.ts';
import { createSessionId, grantHashOf, hashSessionId, Session } from './session.ts';
import { SessionStreams } from './session-streams.ts';

/** Limits of sessions: their number, their idle time, and the events kept for them. */
export interface SessionLimits extends EventRetention {
  maxPerPrincipal: number;
  maxTotal: number;
  idleSeconds: number;
  /** Seconds that events are kept for a returning client. */
  eventSeconds: number;
}

/** Options of the registry. */
export interface SessionRegistryOptions {
  conversations: Conversations;
  store: McpSessionStore;
  seal: Seal;
  access: AccessWatch;
  limits: SessionLimits;
  /** The registries on the same storage; this one alone by default. */
  inUse?: SessionsInUse;
  /** Settles which node serves a session; without it this process is the only one. */
  ownership?: SessionOwnership;
  /** The lease of a process without ownership; without it no other process can take its place. */
  lease?: SessionLease;
  /** The endpoint's public URL. */
  url: URL;
  /** Milliseconds that a POST waits for its responses before it becomes a stream. */
  streamAfterMs: number;
  calls: CallLimit;
  /** Epoch seconds. */
  now: () => number;
  logger: Logger;
}

/** Result of an attempt to open a session. */
export type OpenedSession =
  | { session: Session; result: InitializeResult }
  | { error: JsonRpcError }
  | { reason: 'too_many_sessions' | 'sessions_exhausted' };

/** This process cannot serve a session now, as it stops or its lease is over. It may be served elsewhere, or here later. */
export class SessionMoves extends Error {
  override name = 'SessionMoves';
}

/** The sessions of an endpoint: those in use in memory, all of them in the storage. */
export interface SessionRegistry {
  /** Sends the server `initialize`, and opens a session for the sender (T-144). */
  open(initialize: InitializeParams, sender: Sender & { authInfo: AuthInfo }): Promise<OpenedSession>;
  /**
   * Returns a session of its own principal; all others get undefined (T-125). A session that this process does not hold is
   * restored from the storage. Each use extends its lifetime.
   * @param isForRunning true for a message to running calls, which may still run in another registry of this process
   * @throws ServedElsewhere if another process has it; SessionMoves if this process stops, its lease is over, or the server
   * of the session before a reload does not end
   */
  use(id: string, authInfo: AuthInfo, isForRunning?: boolean): Promise<Session | undefined>;
  /** Ends a session for good. */
  end(session: Session): Promise<void>;
  /** Ends a session by its key in the storage, whether this process holds it or not. */
  endByKey(key: string): Promise<void>;
  /** Ends sessions that were unused for too long, and forgets old events. */
  sweep(): Promise<void>;
  /** Returns whether this process holds a session, by its id. */
  holds(id: string): boolean;
  /**
   * Ends the sessions' own streams. Sessions without running calls are released: other processes and other registries of
   * this process restore them. No session is restored here any more.
   */
  drain(): void;
  /** Returns the number of sessions this process holds. */
  held(): number;
  /** Releases all sessions. They stay in the storage. */
  close(): Promise<void>;
}

const sweepIntervalMs = 60_000;

/** Pause between the looks whether calls of a session have ended, while the process stops, in milliseconds. */
const drainLookMs = 100;

const serverEnded: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The MCP server ended before the session began. Send initialize again.',
};

/** Number of attempts to store a new session, each after the end of an idle one. */
const maxAttempts = 3;

/** Maximum time to look for an idle session, in milliseconds: other processes may have to be asked. */
const evictionMs = 5_000;

/**
 * Creates the registry of sessions. An id is a date and 256 random bits (B3-10, A12-04). The storage has only the date
 * and the SHA-256 of the id.
 */
export function createSessionRegistry(options: SessionRegistryOptions): SessionRegistry {
  const { conversations, seal, access, limits, url, streamAfterMs, calls, now, logger } = options;
  const { inUse = createSessionsInUse(), ownership, lease } = options;
  const store = ownership ? noticeLoss(options.store, (key) => lose(key)) : options.store;
  const late = new Deadlines(streamAfterMs);
  const held = new Map<string, Session>();
  let sweptAt = 0;
  let touchedAt = 0;
  const ending = new Set<string>();
  const restoring = new Map<string, Promise<Session | undefined>>();
  /** Keys of sessions that are being ended for new ones. Parallel requests end different sessions. */
  const evicting = new Set<string>();
  let isStopping = false;
  /** Number of times that all sessions were lost. */
  let losses = 0;

  /** Functions that free sessions for other registries and processes. */
  const frees = new WeakMap<Session, () => void>();
  /** @param unreserve ends the reservation of the session */
  const freeOnce = (key: string, unreserve: () => void): (() => void) => {
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      ownership?.release(key);
      unreserve();
    };
  };
  /**
   * Claims a stored session for this registry, once no other registry of this process has it.
   * @returns frees it; further calls do nothing
   */
  const claim = async (key: string): Promise<() => void> => {
    const unreserve = await inUse.reserve(key);
    try {
      if (isStopping) throw new SessionMoves();
      const owner = await ownership?.claim(key);
      if (owner !== undefined) throw new ServedElsewhere(owner);
    } catch (error) {
      unreserve();
      throw error;
    }
    return freeOnce(key, unreserve);
  };

  const build = (id: string, stored: StoredSession, free: () => void, isRestored: boolean): Session => {
    const client = clientOfPrincipal(stored.principal);
    const log = createEventLog(stored.key, { store, retention: limits, seal, client, now, logger });
    const session: Session = new Session({
      ...stored,
      id,
      url,
      late,
      calls,
      streams: new SessionStreams({ log, access, protocolVersion: stored.protocolVersion, isRestored }),
      ...(ownership && { isServedHere: () => ownership.holds(stored.key) }),
      onChange: (change) =>
        store
          .change(stored.key, change)
          .catch((error: unknown) => logger.warn({ err: error }, 'a change of an MCP session was not kept')),
      // Its row stays: the next request makes the server again.
      onEnded: () => void release(session),
    });
    frees.set(session, free);
    return session;
  };

  /** Sessions whose servers are being closed; each promise resolves once the events are stored, too. */
  const releasing = new Map<Session, Promise<unknown>>();
  const release = async (session: Session, isOver = false): Promise<void> => {
    if (held.get(session.id) === session) held.delete(session.id);
    const ended = session.end(isOver).catch((error: unknown) => {
      logger.warn({ err: error }, 'an MCP server failed to close');
    });
    // A second release may find the server closing, and does not free the session before the first one.
    const closing = Promise.all([releasing.get(session), ended]).then(() => session.streams.stored());
    releasing.set(session, closing);
    await closing;
    if (releasing.get(session) === closing) releasing.delete(session);
    // Last, so that nobody restores a session that still runs here, or whose events are not stored yet.
    frees.get(session)?.();
  };
  /** Removes a session from the storage. Meanwhile no request restores it. */
  const forget = async (key: string): Promise<void> => {
    ending.add(key);
    await store.end(key).finally(() => ending.delete(key));
  };
  const end = async (session: Session): Promise<void> => {
    await Promise.all([release(session, true), forget(session.key)]);
  };

  const heldByKey = (key: string): Session | undefined =>
    [...held.values()].find((candidate) => candidate.key === key);
  const endByKey = (key: string): Promise<void> => {
    const session = heldByKey(key);
    return session ? end(session) : forget(key);
  };
  /** Releases a session whose row says that it is not this process's any more. */
  const lose = (key: string): void => {
    const session = heldByKey(key);
    if (!session) return;
    logger.warn('another process has taken over an MCP session, or has ended it');
    void release(session);
  };

  const restore = async (id: string, authInfo: AuthInfo): Promise<Session | undefined> => {
    const key = hashSessionId(id);
    const found = await store.find(key);
    if (found?.principal !== principalKey(authInfo) || ending.has(key)) return undefined;
    const initialize = seal.open(found.initialize, initializeContext(key));
    if (initialize === undefined) return undefined;
    const free = await claim(key);
    const lossesBefore = losses;
    let session: Session;
    try {
      // Until it was claimed, another registry or process may have changed it.
      const stored = await store.find(key);
      const isIdle = stored && now() - stored.usedAt >= limits.idleSeconds;
      if (isIdle) await forget(key);
      if (!stored || isIdle || ending.has(key)) {
        free();
        return undefined;
      }
      session = build(id, stored, free, true);
      session.carry(
        await restoreConversation(conversations, { ...stored, initialize }, session, { authInfo }),
      );
    } catch (error) {
      free();
      throw isStopping ? new SessionMoves() : error;
    }
    let isThere = false;
    try {
      isThere = (await store.find(key)) !== undefined && !ending.has(key);
    } finally {
      if (!isThere) await release(session, true);
    }
    if (!isThere) return undefined;
    if (isStopping) {
      await release(session);
      throw new SessionMoves();
    }
    if (session.isEnded) return undefined;
    if (losses !== lossesBefore || (ownership && !ownership.holds(key))) {
      // The lease of this process has ended meanwhile.
      await release(session);
      if (!ownership) throw new SessionMoves();
      return restore(id, authInfo);
    }
    held.set(id, session);
    return session;
  };

  const find = async (
    id: string,
    authInfo: AuthInfo,
    isForRunning: boolean,
  ): Promise<Session | undefined> => {
    if (lease && !lease.isCurrent()) throw new SessionMoves();
    const session = held.get(id) ?? (isForRunning ? inUse.find(hashSessionId(id)) : undefined);
    if (session) return session.principal === principalKey(authInfo) ? session : undefined;
    if (isStopping) throw new SessionMoves();
    // Parallel requests restore a session once. The principal is a part of the name, so that nobody waits for the
    // session of another principal.
    const name = `${id} ${principalKey(authInfo)}`;
    const running = restoring.get(name) ?? restore(id, authInfo).finally(() => restoring.delete(name));
    restoring.set(name, running);
    return running;
  };

  /**
   * Ends a session unless it is in use, in a registry of this process or in the process that has it.
   * @returns true if it has ended
   */
  const endUnused = async (key: string): Promise<boolean> => {
    if (inUse.find(key)?.isInUse) return false;
    const owner = await ownership?.claim(key);
    if (ownership && owner !== undefined) return ownership.endIdle(key, owner);
    // It may have been used while it was claimed.
    if (inUse.find(key)?.isInUse) return false;
    await endByKey(key).finally(() => ownership?.release(key));
    return true;
  };

  /** Ends the longest unused session of a principal, never one in use. */
  const evictIdle = async (principal: string): Promise<boolean> => {
    const until = performance.now() + evictionMs;
    for (const key of await store.listOf(principal)) {
      if (evicting.has(key)) continue;
      if (performance.now() > until) return false;
      evicting.add(key);
      if (await endUnused(key).finally(() => evicting.delete(key))) return true;
    }
    return false;
  };

  const keep = async (
    stored: StoredSession,
  ): Promise<'opened' | 'too_many_sessions' | 'sessions_exhausted'> => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const outcome = await store.open(stored, limits);
      if (outcome === 'opened') return 'opened';
      if (outcome === 'full' && sweptAt < now()) {
        await sweep();
        continue;
      }
      if (!(await evictIdle(stored.principal)))
        return outcome === 'full' ? 'sessions_exhausted' : 'too_many_sessions';
    }
    return 'too_many_sessions';
  };

  const noteUse = async (): Promise<string[]> => {
    const sessions = [...held.values()];
    const busy = sessions.filter(({ isInUse }) => isInUse);
    for (const session of busy) session.usedAt = now();
    for (const [usedAt, used] of Map.groupBy(sessions, (session) => session.usedAt))
      if (usedAt > touchedAt)
        await store.touch(
          used.map(({ key }) => key),
          usedAt,
        );
    touchedAt = now() - 1;
    return busy.map(({ key }) => key);
  };
  const forgetRegistry = inUse.add(noteUse, heldByKey);
  const stopListening = [
    (ownership ?? lease)?.onLost(() => {
      losses++;
      for (const session of [...held.values()]) void release(session);
    }),
    ownership?.onEndIdle(async (key) => {
      const session = heldByKey(key);
      if (!session || session.isInUse) return false;
      await end(session);
      return true;
    }),
  ];

  const sweep = async (): Promise<void> => {
    sweptAt = now();
    const keep = await inUse.note();
    const sessions = [...held.values()];
    const idleSince = now() - limits.idleSeconds;
    const bounds = { usedBefore: idleSince + 1, eventsBefore: now() - limits.eventSeconds };
    const ended = new Set(await store.sweep({ ...bounds, keep }));
    const isOver = (session: Session): boolean =>
      ended.has(session.key) || (!session.isInUse && session.usedAt <= idleSince);
    await Promise.all(sessions.filter(isOver).map((session) => release(session, ended.has(session.key))));
  };
  const sweeper = setInterval(() => {
    sweep().catch((error: unknown) => logger.warn({ err: error }, 'MCP sessions could not be swept'));
  }, sweepIntervalMs);
  sweeper.unref();
  let draining: NodeJS.Timeout | undefined;
  const releaseQuiet = (): void => {
    for (const session of [...held.values()]) if (!session.hasCalls) void release(session);
  };
  const unwatch = watchSessions({
    store,
    held: () => [...held.values()].map(({ key }) => key),
    onGone: (keys) => {
      for (const session of [...held.values()]) if (keys.has(session.key)) void release(session, true);
    },
    logger,
  });

  return {
    async open(initialize, sender) {
      const id = createSessionId();
      const key = hashSessionId(id);
      const stored: StoredSession = {
        key,
        principal: principalKey(sender.authInfo),
        grantHash: grantHashOf(sender.authInfo),
        initialize: seal.seal(JSON.stringify(initialize), initializeContext(key)),
        protocolVersion: initialize.protocolVersion,
        isInitialized: false,
        logLevel: null,
        subscriptions: [],
        createdAt: now(),
        usedAt: now(),
      };
      const early: Parameters<Session['hear']>[] = [];
      let session: Session | undefined;
      let hasEnded = false;
      const opening = await conversations.open(initialize, sender, {
        hear: (message, relatedTo) =>
          session ? session.hear(message, relatedTo) : void early.push([message, relatedTo]),
        ended() {
          hasEnded = true;
          session?.ended();
        },
      });
      if ('error' in opening) return opening;
      const { conversation, result } = opening;
      stored.protocolVersion = result.protocolVersion;
      const outcome = await keep(stored).catch(async (error: unknown) => {
        await conversation.end();
        throw error;
      });
      if (outcome !== 'opened') {
        await conversation.end();
        return { reason: outcome };
      }
      const unreserve = await inUse.reserve(key);
      if (hasEnded) {
        unreserve();
        await store.end(key);
        return { error: serverEnded };
      }
      ownership?.opened(key);
      session = build(id, stored, freeOnce(key, unreserve), false);
      session.carry(conversation);
      held.set(id, session);
      for (const [message, relatedTo] of early) session.hear(message, relatedTo);
      if (isStopping) void release(session);
      return { session, result };
    },
    async use(id, authInfo, isForRunning = false) {
      const session = await find(id, authInfo, isForRunning);
      if (!session) return undefined;
      if (held.get(id) === session && !session.isInUse && now() - session.usedAt >= limits.idleSeconds) {
        await end(session);
        return undefined;
      }
      session.usedAt = now();
      await session.useBy(grantHashOf(authInfo));
      return session;
    },
    end,
    endByKey,
    sweep,
    held: () => held.size,
    holds: (id) => held.has(id),
    drain() {
      isStopping = true;
      for (const { streams } of held.values()) streams.release();
      releaseQuiet();
      draining ??= setInterval(releaseQuiet, drainLookMs);
    },
    async close() {
      isStopping = true;
      clearInterval(draining);
      clearInterval(sweeper);
      unwatch();
      forgetRegistry();
      for (const stop of stopListening) stop?.();
      await Promise.all([...[...held.values()].map((session) => release(session)), ...releasing.values()]);
    },
  };
}

/** Wraps a store of several processes. @param lost called with a session whose row refuses a write of this process */
function noticeLoss(store: McpSessionStore, lost: (key: string) => void): McpSessionStore {
  const notice = async (key: string, writing: Promise<boolean>): Promise<boolean> => {
    const isOurs = await writing;
    if (!isOurs) lost(key);
    return isOurs;
  };
  return {
    ...store,
    change: (key, ...rest) => notice(key, store.change(key, ...rest)),
    openStream: (key, ...rest) => notice(key, store.openStream(key, ...rest)),
    append: (key, ...rest) => notice(key, store.append(key, ...rest)),
  };
}

function initializeContext(key: string): string {
  return JSON.stringify(['initialize', key]);
}

/** Options of the watch. */
export interface SessionWatchOptions {
  store: Pick<McpSessionStore, 'othersMark' | 'filterPresent'>;
  /** Keys of the sessions this process holds. */
  held: () => readonly string[];
  /** Releases sessions that another process has ended. */
  onGone: (keys: ReadonlySet<string>) => void;
  logger: Pick<Logger, 'warn'>;
  /** Interval of the checks, in milliseconds; 300 by default. */
  intervalMs?: number;
}

/** Number of keys in one query, so that no other query waits long. */
const batchSize = 500;

/**
 * Watches for sessions that another process ends: an operator's command, or another server on the database. The storage
 * is queried only after another process wrote to it.
 * @returns ends the watch
 */
export function watchSessions(options: SessionWatchOptions): () => void {
  const { store, held, onGone, logger, intervalMs = 300 } = options;
  let seen: string | undefined;
  let isChecking = false;

  const check = async (): Promise<void> => {
    const keys = held();
    if (keys.length === 0) return;
    const mark = await store.othersMark();
    if (mark === seen) return;
    const gone = new Set(keys);
    for (let at = 0; at < keys.length; at += batchSize)
      for (const key of await store.filterPresent(keys.slice(at, at + batchSize))) gone.delete(key);
    if (gone.size > 0) onGone(gone);
    seen = mark;
  };

  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    check()
      .catch((error: unknown) => logger.warn({ err: error }, 'MCP sessions could not be looked for'))
      .finally(() => {
        isChecking = false;
      });
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Stores the times of use of a registry's sessions. @returns the keys of the sessions in use */
export type NoteUse = () => Promise<readonly string[]>;

/** The registries of this process on one storage. One of them at a time has a session, and its use counts in all. */
export interface SessionsInUse {
  /**
   * @param find returns a session of the registry by its key
   * @returns removes the registry again
   */
  add(noteUse: NoteUse, find: (key: string) => Session | undefined): () => void;
  /** Stores the times of use of all registries. @returns the keys of all sessions in use */
  note(): Promise<string[]>;
  /** Returns a session that a registry has, by its key. */
  find(key: string): Session | undefined;
  /**
   * Reserves a session for one registry, once no other registry has it. After a reload, two registries serve a route until
   * the calls of the old one have ended.
   * @returns ends the reservation
   * @throws SessionMoves if another registry does not end it in time
   */
  reserve(key: string): Promise<() => void>;
}

/**
 * Maximum wait for another registry to end a session, in milliseconds: longer than running calls get at a reload, and
 * programs to end.
 */
const reserveMs = 12_000;

/** Creates the list of registries, empty. */
export function createSessionsInUse(): SessionsInUse {
  const registries = new Map<NoteUse, (key: string) => Session | undefined>();
  const reserved = new Map<string, Promise<void>>();
  return {
    add(noteUse, find) {
      registries.set(noteUse, find);
      return () => registries.delete(noteUse);
    },
    async note() {
      return (await Promise.all([...registries.keys()].map((noteUse) => noteUse()))).flat();
    },
    find(key) {
      for (const findIn of registries.values()) {
        const session = findIn(key);
        if (session) return session;
      }
      return undefined;
    },
    async reserve(key) {
      const until = performance.now() + reserveMs;
      for (let other = reserved.get(key); other; other = reserved.get(key)) {
        await endedWithin(until - performance.now(), other);
        if (performance.now() >= until) throw new SessionMoves();
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      reserved.set(key, promise);
      return () => {
        if (reserved.get(key) === promise) reserved.delete(key);
        resolve();
      };
    },
  };
}
