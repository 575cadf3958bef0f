import type Database from 'better-sqlite3';
import type {
  EventRetention,
  McpSessionStore,
  McpSessionStores,
  SessionChange,
  SessionSummary,
  StoredEvent,
  StoredSession,
} from '../../mcp-sessions.ts';
import type { Writer } from '../connection/writer.ts';
import { isAlive } from './nodes.ts';

/** Sessions recorded as used in one commit: small enough to not delay other writes. */
const touchedAtOnce = 250;

interface Row extends Omit<StoredSession, 'isInitialized' | 'subscriptions'> {
  isInitialized: number;
  subscriptions: string;
}

function toSession(row: Row): StoredSession {
  return {
    ...row,
    isInitialized: row.isInitialized === 1,
    subscriptions: JSON.parse(row.subscriptions) as string[],
  };
}

function toRow(session: StoredSession): Row {
  return {
    ...session,
    isInitialized: session.isInitialized ? 1 : 0,
    subscriptions: JSON.stringify(session.subscriptions),
  };
}

/** Condition for rows of `mcp_sessions` that a node may write to; without a node all. */
function ownedBy(node: string | undefined): string {
  return node === undefined ? '' : ' AND node_id = @node';
}

/** Creates the stores of MCP sessions in a SQLite database. */
export function createMcpSessionStore(db: Database.Database, writer: Writer): McpSessionStores {
  return { ...createStore(db, writer), ofNode: (id) => createStore(db, writer, id) };
}

/** @param node the node whose sessions it writes to; undefined for all */
function createStore(db: Database.Database, writer: Writer, node?: string): McpSessionStore {
  const isOwn = ownedBy(node);
  const sessionsOf = db
    .prepare<[string], number>('SELECT sessions FROM mcp_session_counts WHERE principal = ?')
    .pluck();
  const total = db.prepare<[], number>('SELECT sessions FROM mcp_session_total').pluck();
  const open = db.prepare<[Row & { node: string | null }]>(
    `INSERT INTO mcp_sessions (key, principal, initialize, protocol_version, is_initialized, log_level,
       subscriptions, created_at, used_at, grant_hash, node_id)
     VALUES (@key, @principal, @initialize, @protocolVersion, @isInitialized, @logLevel,
       @subscriptions, @createdAt, @usedAt, @grantHash, @node)`,
  );
  const columns = `key, principal, initialize, protocol_version AS protocolVersion, is_initialized AS isInitialized,
    log_level AS logLevel, subscriptions, created_at AS createdAt, used_at AS usedAt,
    grant_hash AS grantHash`;
  const find = db.prepare<[string], Row>(`SELECT ${columns} FROM mcp_sessions WHERE key = ?`);
  // The number sign is the character after the quotation mark that ends a prefix.
  const listBelow = db.prepare<[string, string], Row>(
    `SELECT ${columns} FROM mcp_sessions WHERE principal >= ? AND principal < ? ORDER BY used_at DESC, id DESC`,
  );
  const listOf = db
    .prepare<[string], string>('SELECT key FROM mcp_sessions WHERE principal = ? ORDER BY used_at, id')
    .pluck();
  const list = db.prepare<[], SessionSummary>(
    `SELECT key, principal, protocol_version AS protocolVersion, created_at AS createdAt, used_at AS usedAt
     FROM mcp_sessions ORDER BY used_at DESC, id DESC`,
  );
  const filterPresent = db
    .prepare<[string], string>('SELECT key FROM mcp_sessions WHERE key IN (SELECT value FROM json_each(?))')
    .pluck();
  const foreignCommits = db.prepare<[], number>('PRAGMA data_version').pluck();
  const change = db.prepare(
    `UPDATE mcp_sessions SET is_initialized = @isInitialized, log_level = @logLevel,
       subscriptions = @subscriptions, used_at = @usedAt, grant_hash = @grantHash
     WHERE key = @key${isOwn}`,
  );
  const touch = db.prepare(
    `UPDATE mcp_sessions SET used_at = @usedAt WHERE key = @key AND used_at < @usedAt${isOwn}`,
  );
  const end = db.prepare('DELETE FROM mcp_sessions WHERE key = ?');

  return {
    isRemote: false,
    open: (session, caps) =>
      writer.write(() => {
        if ((sessionsOf.get(session.principal) ?? 0) >= caps.maxPerPrincipal) return 'principal_full';
        if ((total.get() ?? 0) >= caps.maxTotal) return 'full';
        open.run({ ...toRow(session), node: node ?? null });
        return 'opened';
      }),
    async find(key) {
      const row = find.get(key);
      return row && toSession(row);
    },
    listOf: async (principal) => listOf.all(principal),
    list: async () => list.all(),
    filterPresent: async (keys) => filterPresent.all(JSON.stringify(keys)),
    othersMark: async () => String(foreignCommits.get()),
    listBelow: async (prefix) => listBelow.all(prefix, `${prefix.slice(0, -1)}#`).map(toSession),
    change: (key, changes: SessionChange) =>
      writer.write(() => {
        const row = find.get(key);
        if (!row) return false;
        return change.run({ ...toRow({ ...toSession(row), ...changes }), node }).changes === 1;
      }),
    async touch(keys, usedAt) {
      for (let from = 0; from < keys.length; from += touchedAtOnce) {
        const some = keys.slice(from, from + touchedAtOnce);
        await writer.write(() => {
          for (const key of some) touch.run({ key, usedAt, node });
        });
      }
    },
    end: (key) => writer.write(() => end.run(key).changes === 1),
    ...createMcpStreamStore(db, writer, node),
    sweep: createMcpSweep(db, writer, node),
  };
}

interface StreamRow {
  id: number;
  owed: string;
}

interface EventRow {
  position: number;
  data: string;
  answers: string | null;
}

/** Creates the store of the streams of MCP sessions and their events. */
function createMcpStreamStore(
  db: Database.Database,
  writer: Writer,
  node: string | undefined,
): Pick<McpSessionStore, 'openStream' | 'append' | 'resume' | 'closeStream'> {
  const isOwn = ownedBy(node);
  const findSession = db.prepare<[string], number>('SELECT id FROM mcp_sessions WHERE key = ?').pluck();
  const findOwn = db
    .prepare<[object], number>(`SELECT id FROM mcp_sessions WHERE key = @key${isOwn}`)
    .pluck();
  const open = db.prepare(
    `INSERT INTO mcp_streams (session_id, name, owed, lasts, created_at)
     SELECT id, @stream, @owed, @owed = '[]', @createdAt FROM mcp_sessions WHERE key = @key${isOwn}
     ON CONFLICT (session_id, name) DO UPDATE SET owed = excluded.owed, created_at = excluded.created_at`,
  );
  const find = db.prepare<[number, string], StreamRow>(
    'SELECT id, owed FROM mcp_streams WHERE session_id = ? AND name = ?',
  );
  const begin = db.prepare<[number, string, number], StreamRow>(
    `INSERT INTO mcp_streams (session_id, name, owed, created_at) VALUES (?, ?, '[]', ?) RETURNING id, owed`,
  );
  const owe = db.prepare<[string, number]>('UPDATE mcp_streams SET owed = ? WHERE id = ?');
  const insert = db.prepare(
    `INSERT INTO mcp_events (stream_id, session_id, position, answers, created_at, data)
     VALUES (@streamId, @sessionId, @position, @answers, @createdAt, @data)`,
  );
  const totals = db.prepare<[number], { events: number; bytes: number }>(
    'SELECT events, bytes FROM mcp_event_totals WHERE session_id = ?',
  );
  const dropOldest = db.prepare<[number], { streamId: number; answers: string | null }>(
    `DELETE FROM mcp_events WHERE id = (SELECT min(id) FROM mcp_events WHERE session_id = ?)
     RETURNING stream_id AS streamId, answers`,
  );
  const closeSaid = db.prepare<[number]>(
    `DELETE FROM mcp_streams
     WHERE id = ? AND owed = '[]' AND NOT EXISTS (SELECT 1 FROM mcp_events WHERE stream_id = mcp_streams.id)`,
  );
  const eventsBehind = db.prepare<[number, number], EventRow>(
    'SELECT position, data, answers FROM mcp_events WHERE stream_id = ? AND position > ? ORDER BY position',
  );
  const close = db.prepare(
    `DELETE FROM mcp_streams
     WHERE name = @stream AND session_id = (SELECT id FROM mcp_sessions WHERE key = @key${isOwn})`,
  );

  function keep(sessionId: number, event: StoredEvent, createdAt: number): void {
    const stream = find.get(sessionId, event.stream) ?? begin.get(sessionId, event.stream, createdAt);
    if (!stream) throw new Error('a stream of an MCP session could not be begun');
    const { position, data, answers = null } = event;
    insert.run({ streamId: stream.id, sessionId, position, answers, createdAt, data });
    if (answers === null) return;
    const owed = (JSON.parse(stream.owed) as string[]).filter((id) => id !== answers);
    owe.run(JSON.stringify(owed), stream.id);
  }

  /** Drops an event, and its stream with the last answer: nothing is left to resume. */
  function drop(sessionId: number): void {
    const dropped = dropOldest.get(sessionId);
    if (typeof dropped?.answers === 'string') closeSaid.run(dropped.streamId);
  }

  function isOver(sessionId: number, { maxEvents, maxBytes }: EventRetention): boolean {
    const { events, bytes } = totals.get(sessionId) ?? { events: 0, bytes: 0 };
    return events > maxEvents || bytes > maxBytes;
  }

  return {
    openStream: (key, { stream, owed }, createdAt) =>
      writer.write(
        () => open.run({ key, stream, owed: JSON.stringify(owed), createdAt, node }).changes === 1,
      ),
    append: (key, events, retention, createdAt) =>
      writer.write(() => {
        const sessionId = findOwn.get({ key, node });
        if (sessionId === undefined) return false;
        for (const event of events) keep(sessionId, event, createdAt);
        while (isOver(sessionId, retention)) drop(sessionId);
        return true;
      }),
    async resume(key, stream, after) {
      const sessionId = findSession.get(key);
      const found = sessionId === undefined ? undefined : find.get(sessionId, stream);
      if (!found) return undefined;
      const events = eventsBehind.all(found.id, after).map(({ answers, ...event }) => ({
        stream,
        ...event,
        ...(answers === null ? undefined : { answers }),
      }));
      return { stream, owed: JSON.parse(found.owed) as string[], events };
    },
    closeStream: (key, stream) => writer.write(() => void close.run({ key, stream, node })),
  };
}

/** Rows read and removed in one commit: small enough to not delay other writes (T-180). */
const batchSize = 250;

/** A row that may be due, with its position in the order of time. */
interface Candidate {
  id: number;
  at: number;
}

interface SessionCandidate extends Candidate {
  key: string;
}

/**
 * Creates the sweep of MCP sessions. Events are removed first, so that few rows depend on the sessions and streams
 * removed later.
 */
export function createMcpSweep(
  db: Database.Database,
  writer: Writer,
  node?: string,
): McpSessionStore['sweep'] {
  const rowsChanged = db.prepare<[], number>('SELECT total_changes()').pluck();
  const removeEvents = db.prepare<[number]>(
    `DELETE FROM mcp_events WHERE id IN (SELECT id FROM mcp_events WHERE created_at < ? LIMIT ${batchSize})`,
  );
  const oldStreams = db.prepare<[number, number, number], Candidate>(
    `SELECT id, created_at AS at FROM mcp_streams
     WHERE created_at < ? AND lasts = 0 AND owed = '[]' AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ${batchSize}`,
  );
  const removeStream = db.prepare<[{ id: number }]>(
    'DELETE FROM mcp_streams WHERE id = @id AND NOT EXISTS (SELECT 1 FROM mcp_events WHERE stream_id = @id)',
  );
  const unusedSessions = db.prepare<[number, number, number], SessionCandidate>(
    `SELECT id, used_at AS at, key FROM mcp_sessions
     WHERE used_at < ? AND (used_at, id) > (?, ?) ORDER BY used_at, id LIMIT ${batchSize}`,
  );
  const isFree =
    node === undefined
      ? ''
      : ` AND (node_id IS NULL OR node_id = @node OR node_id NOT IN (SELECT id FROM nodes WHERE ${isAlive}))`;
  const endSession = db.prepare<[object]>(`DELETE FROM mcp_sessions WHERE id = @id${isFree}`);

  /** Processes the rows that may be due, one batch per commit: a batch ends when enough rows were read or removed. */
  async function inBatches<T extends Candidate>(
    select: Database.Statement<[number, number, number], T>,
    before: number,
    remove: (candidate: T) => void,
  ): Promise<void> {
    let place: Candidate | undefined = { id: 0, at: Number.MIN_SAFE_INTEGER };
    while (place) {
      const { at, id }: Candidate = place;
      place = await writer.write(() => {
        const enough = (rowsChanged.get() ?? 0) + batchSize;
        const candidates = select.all(before, at, id);
        for (const candidate of candidates) {
          remove(candidate);
          if ((rowsChanged.get() ?? 0) >= enough) return candidate;
        }
        return candidates.length === batchSize ? candidates.at(-1) : undefined;
      });
    }
  }

  return async ({ usedBefore, eventsBefore, keep }) => {
    for (let removed = batchSize; removed === batchSize; )
      removed = await writer.write(() => removeEvents.run(eventsBefore).changes);
    await inBatches(oldStreams, eventsBefore, ({ id }) => removeStream.run({ id }));

    const kept = new Set(keep);
    const ended: string[] = [];
    await inBatches(unusedSessions, usedBefore, ({ id, key }) => {
      if (kept.has(key)) return;
      if (endSession.run({ id, node }).changes === 1) ended.push(key);
    });
    return ended;
  };
}
