/** An MCP session as it is kept, so that it outlives the process (B3-10). */
export interface StoredSession {
  /** The date of the session id and its SHA-256; the id itself is only the client's. */
  key: string;
  /** Whose it is: `principalKey` of who opened it, with the path of the route behind the client where it has one. */
  principal: string;
  /** Hash of the grant by which it was used last; null where a client acts for itself, and in sessions from before. */
  grantHash: string | null;
  /** Params of the client's `initialize`, sealed. */
  initialize: string;
  /** Revision agreed on. */
  protocolVersion: string;
  /** Whether the client said `notifications/initialized`. */
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

/** What is said of a session in a list. */
export type SessionSummary = Pick<
  StoredSession,
  'key' | 'principal' | 'protocolVersion' | 'createdAt' | 'usedAt'
>;

/** What of a session may change. */
export type SessionChange = Partial<
  Pick<StoredSession, 'isInitialized' | 'logLevel' | 'subscriptions' | 'usedAt' | 'grantHash'>
>;

/** A stream of a session that can be resumed: one a POST began, or the session's own (GET). */
export interface StoredStream {
  /** Name of the stream, unique in its session. */
  stream: string;
  /** JSON of each request id (`1`, `"1"`) the stream still owes an answer; empty for the session's own stream. */
  owed: readonly string[];
}

/** An event of a stream. */
export interface StoredEvent {
  stream: string;
  /** Position in the stream, from 1. */
  position: number;
  /** The JSON-RPC message, sealed. */
  data: string;
  /** JSON of the request id the message answers, where it is an answer. */
  answers?: string;
}

/** Bounds of what is kept of a session's events; the oldest go first. */
export interface EventRetention {
  maxEvents: number;
  maxBytes: number;
}

/** How many sessions may be kept. */
export interface SessionCaps {
  maxPerPrincipal: number;
  maxTotal: number;
}

/** Sessions of the MCP endpoint, their streams and undelivered events. All writes are durable when they resolve. */
export interface McpSessionStore {
  /** Keeps a new session; at a cap nothing is kept. A principal's own cap is looked at first. */
  open(session: StoredSession, caps: SessionCaps): Promise<'opened' | 'principal_full' | 'full'>;
  /** Gives a session; undefined where there is none. */
  find(key: string): Promise<StoredSession | undefined>;
  /** Gives the keys of a principal's sessions, longest unused first. */
  listOf(principal: string): Promise<string[]>;
  /** Gives all sessions, last used first, without what their clients said. */
  list(): Promise<SessionSummary[]>;
  /** Gives those of the keys under which there is a session. */
  filterPresent(keys: readonly string[]): Promise<string[]>;
  /** Gives a mark: as long as it stays the same, no other process wrote anything. It may change for other reasons. */
  othersMark(): Promise<string>;
  /**
   * Gives the sessions whose principal begins so, last used first. For those of one account, whatever the client.
   * @param prefix ASCII, ends with a quotation mark
   */
  listBelow(prefix: string): Promise<StoredSession[]>;
  /** Changes a session; nothing happens where it is gone. */
  change(key: string, change: SessionChange): Promise<void>;
  /** Notes that sessions were used; a session that was used later than that keeps its time. */
  touch(keys: readonly string[], usedAt: number): Promise<void>;
  /** Ends a session with all its streams and events; false where there was none. */
  end(key: string): Promise<boolean>;
  /**
   * Keeps a stream; nothing happens where the session is gone. A stream that is there already keeps its events, and
   * owes from now on what is given.
   */
  openStream(key: string, stream: StoredStream, createdAt: number): Promise<void>;
  /**
   * Keeps events, strikes what they answer from what their streams owe, and drops the oldest of the session over the
   * bounds, with streams of which the last answer was dropped and nothing is owed; an event that is over them alone is
   * not kept. A stream that is not there, or was swept, begins with them and owes nothing. Nothing happens where the
   * session is gone.
   */
  append(
    key: string,
    events: readonly StoredEvent[],
    retention: EventRetention,
    createdAt: number,
  ): Promise<void>;
  /** Gives a stream with its events behind a position, in order; undefined for a stream this session does not have. */
  resume(
    key: string,
    stream: string,
    after: number,
  ): Promise<(StoredStream & { events: StoredEvent[] }) | undefined>;
  /** Forgets a stream and its events. */
  closeStream(key: string, stream: string): Promise<void>;
  /**
   * Ends sessions unused since `usedBefore`, but for those named; and forgets events of before `eventsBefore`, of any
   * session, and the streams begun before it that have no later event and owe nothing more. A stream that was opened
   * owing nothing is the session's own and stays with it. In bounded batches. Gives the keys of the ended sessions.
   */
  sweep(bounds: { usedBefore: number; eventsBefore: number; keep: readonly string[] }): Promise<string[]>;
}
