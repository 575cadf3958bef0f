import type Database from 'better-sqlite3';
import type { McpSessionStore } from '../mcp-sessions.ts';
import type { Writer } from './writer.ts';

/** Rows looked at, and rows removed, in one commit: few enough that others hardly notice (T-180). */
const batchSize = 250;

/** A row that may be due, at its place in the order of time. */
interface Candidate {
  id: number;
  at: number;
}

interface SessionCandidate extends Candidate {
  key: string;
}

/**
 * Creates the sweep of MCP sessions. Events go first, so that little hangs on what goes after them.
 * @returns what `McpSessionStore.sweep` is
 */
export function createMcpSweep(db: Database.Database, writer: Writer): McpSessionStore['sweep'] {
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
  const endSession = db.prepare<[number]>('DELETE FROM mcp_sessions WHERE id = ?');

  /** Goes through what may be due, a batch a commit: it ends where enough was looked at, or enough was removed. */
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
      endSession.run(id);
      ended.push(key);
    });
    return ended;
  };
}
