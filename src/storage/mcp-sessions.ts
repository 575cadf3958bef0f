/** An MCP session, stored so that it survives a restart (B3-10). */
export interface StoredSession {
  /** Date of the session id and its SHA-256; only the client has the id itself. */
  key: string;
  /** `principalKey` of the opener, with the route's path behind the client if there is one. */
  principal: string;
  /** Hash of the grant last used; null if the client acts for itself, and in sessions stored by an earlier version. */
  grantHash: string | null;
  /** Params of the client's `initialize`, sealed. */
  initialize: string;
  /** Negotiated protocol revision. */
  protocolVersion: string;
  /** True once the client sent `notifications/initialized`. */
  isInitialized: boolean;
  /** Level of `logging/setLevel`, once the client set one. */
  logLevel: string | null;
  /** URIs of `resources/subscribe`. */
  subscriptions: readonly string[];
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds; may lag behind by a minute. */
  usedAt: number;
}

/** A session as listed. */
export type SessionSummary = Pick<
  StoredSession,
  'key' | 'principal' | 'protocolVersion' | 'createdAt' | 'usedAt'
>;

/** The members of a session that may change. */
export type SessionChange = Partial<
  Pick<StoredSession, 'isInitialized' | 'logLevel' | 'subscriptions' | 'usedAt' | 'grantHash'>
>;

/** A resumable stream of a session: opened by a POST, or the session's own (GET). */
export interface StoredStream {
  /** Name of the stream, unique in its session. */
  stream: string;
  /** JSON of each request id (`1`, `"1"`) that the stream has not answered yet; empty for the session's own stream. */
  owed: readonly string[];
}

/** An event of a stream. */
export interface StoredEvent {
  stream: string;
  /** Position in the stream, from 1. */
  position: number;
  /** The JSON-RPC message, sealed. */
  data: string;
  /** JSON of the request id, if the message is a response. */
  answers?: string;
}

/** Bounds on the stored events of a session; the oldest are dropped first. */
export interface EventRetention {
  maxEvents: number;
  maxBytes: number;
}

/** Maximum numbers of stored sessions. */
export interface SessionCaps {
  maxPerPrincipal: number;
  maxTotal: number;
}

/**
 * Sessions of the MCP endpoint, their streams and undelivered events. Every write resolves once it is durable. Those of
 * one session return false without any effect if the session is gone, or if this is the store of a node that does not
 * have the session.
 */
export interface McpSessionStore {
  /** True if the database is a server: a write may fail while this process runs on. */
  readonly isRemote: boolean;
  /** Stores a new session unless a cap is reached; the principal's own cap is checked first. */
  open(session: StoredSession, caps: SessionCaps): Promise<'opened' | 'principal_full' | 'full'>;
  /** Returns a session; undefined if there is none. */
  find(key: string): Promise<StoredSession | undefined>;
  /** Returns the keys of a principal's sessions, least recently used first. */
  listOf(principal: string): Promise<string[]>;
  /** Returns all sessions, most recently used first. */
  list(): Promise<SessionSummary[]>;
  /** Returns those of the keys that are stored. */
  filterPresent(keys: readonly string[]): Promise<string[]>;
  /** Returns a mark: while it stays the same, no other process has ended a session. It may change for other reasons. */
  othersMark(): Promise<string>;
  /**
   * Returns the sessions whose principal has this prefix, most recently used first: those of one account, for any
   * client.
   * @param prefix ASCII, ends with a quotation mark
   */
  listBelow(prefix: string): Promise<StoredSession[]>;
  /** Updates a session. */
  change(key: string, change: SessionChange): Promise<boolean>;
  /** Records a use of sessions; a later recorded use stays. */
  touch(keys: readonly string[], usedAt: number): Promise<void>;
  /**
   * Ends a session with its streams and events.
   * @returns false if there is none
   */
  end(key: string): Promise<boolean>;
  /** Stores a stream. A stream that exists keeps its events, and its unanswered requests are replaced. */
  openStream(key: string, stream: StoredStream, createdAt: number): Promise<boolean>;
  /**
   * Stores events and removes the requests they answer from their streams' unanswered ones. The oldest events of the
   * session beyond the bounds are dropped, with streams whose last answer was dropped and that owe nothing; an event
   * that exceeds the bounds alone is not stored. An unknown or swept stream is created without unanswered requests.
   */
  append(
    key: string,
    events: readonly StoredEvent[],
    retention: EventRetention,
    createdAt: number,
  ): Promise<boolean>;
  /** Returns a stream with its events after a position, in order; undefined if this session has no such stream. */
  resume(
    key: string,
    stream: string,
    after: number,
  ): Promise<(StoredStream & { events: StoredEvent[] }) | undefined>;
  /** Removes a stream and its events. */
  closeStream(key: string, stream: string): Promise<void>;
  /**
   * Ends sessions unused since `usedBefore`, except those named, and in the store of a node those that another node has
   * which is alive. Removes events older than `eventsBefore` of any
   * session, and streams begun before it that have no later event and owe no answer; a session's own stream stays with
   * the session. Works in bounded batches.
   * @returns the keys of the ended sessions
   */
  sweep(bounds: { usedBefore: number; eventsBefore: number; keep: readonly string[] }): Promise<string[]>;
}

/** The sessions of all nodes. */
export interface McpSessionStores extends McpSessionStore {
  /**
   * Returns the store for one node: it has the sessions that it opens. Sessions of other nodes, and those that it let go
   * of, it can only read and end.
   */
  ofNode(id: string): McpSessionStore;
}
