import type Database from 'better-sqlite3';
import { leaseSeconds, type NodeRow, type NodeStore } from '../../nodes.ts';
import type { Writer } from '../connection/writer.ts';

/** Epoch milliseconds of the machine that all processes of a folder share. */
const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** Condition for rows of `nodes`. */
export const isAlive = `beat_at_ms > ${now} - ${leaseSeconds * 1000}`;

/** Creates the store of the processes on a SQLite database. */
export function createNodeStore(db: Database.Database, writer: Writer): NodeStore {
  const columns = 'nodes.id, address, version, started_at AS startedAt';
  const beat = db.prepare(
    `INSERT INTO nodes (id, address, version, started_at, beat_at_ms)
     VALUES (@id, @address, @version, @startedAt, ${now})
     ON CONFLICT (id) DO UPDATE SET beat_at_ms = excluded.beat_at_ms`,
  );
  const leave = db.prepare('DELETE FROM nodes WHERE id = ?');
  const releaseAll = db.prepare('UPDATE mcp_sessions SET node_id = NULL WHERE node_id = ?');
  const list = db.prepare<[], NodeRow>(
    `SELECT ${columns} FROM nodes WHERE ${isAlive} ORDER BY started_at, id`,
  );
  const claim = db.prepare(
    `UPDATE mcp_sessions SET node_id = @id
     WHERE key = @key AND (node_id IS NULL OR node_id = @id
       OR node_id NOT IN (SELECT id FROM nodes WHERE ${isAlive}))`,
  );
  const isStored = db.prepare<[string], number>('SELECT 1 FROM mcp_sessions WHERE key = ?').pluck();
  const release = db.prepare(
    `UPDATE mcp_sessions SET node_id = NULL
     WHERE key IN (SELECT value FROM json_each(?)) AND node_id = ?`,
  );
  const ownerOf = db.prepare<[string], NodeRow>(
    `SELECT ${columns} FROM nodes JOIN mcp_sessions ON node_id = nodes.id WHERE key = ? AND ${isAlive}`,
  );

  return {
    beat: (node) => writer.write(() => void beat.run(node)),
    leave: (id) =>
      writer.write(() => {
        releaseAll.run(id);
        leave.run(id);
      }),
    list: async () => list.all(),
    claimSession: (key, id) =>
      writer.write(() => {
        if (claim.run({ key, id }).changes === 1) return 'claimed';
        return isStored.get(key) ? 'taken' : 'missing';
      }),
    releaseSessions: (keys, id) => writer.write(() => void release.run(JSON.stringify(keys), id)),
    ownerOf: async (key) => ownerOf.get(key),
  };
}
