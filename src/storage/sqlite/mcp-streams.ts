import type Database from 'better-sqlite3';
import type { EventRetention, McpSessionStore, StoredEvent } from '../mcp-sessions.ts';
import type { Writer } from './writer.ts';

interface StreamRow {
  id: number;
  owed: string;
}

interface EventRow {
  position: number;
  data: string;
  answers: string | null;
}

/** The streams of MCP sessions in a SQLite database, and their events. */
export function createMcpStreamStore(
  db: Database.Database,
  writer: Writer,
): Pick<McpSessionStore, 'openStream' | 'append' | 'resume' | 'closeStream'> {
  const findSession = db.prepare<[string], number>('SELECT id FROM mcp_sessions WHERE key = ?').pluck();
  const open = db.prepare(
    `INSERT INTO mcp_streams (session_id, name, owed, lasts, created_at)
     SELECT id, @stream, @owed, @owed = '[]', @createdAt FROM mcp_sessions WHERE key = @key
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
     WHERE name = @stream AND session_id = (SELECT id FROM mcp_sessions WHERE key = @key)`,
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

  /** Drops an event, and with the last answer on a stream the stream: nothing is left of it to resume. */
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
      writer.write(() => void open.run({ key, stream, owed: JSON.stringify(owed), createdAt })),
    append: (key, events, retention, createdAt) =>
      writer.write(() => {
        const sessionId = findSession.get(key);
        if (sessionId === undefined) return;
        for (const event of events) keep(sessionId, event, createdAt);
        while (isOver(sessionId, retention)) drop(sessionId);
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
    closeStream: (key, stream) => writer.write(() => void close.run({ key, stream })),
  };
}
