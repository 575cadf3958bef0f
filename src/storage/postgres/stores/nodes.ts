import { leaseSeconds, type NodeRow, type NodeStore } from '../../nodes.ts';
import type { Database } from '../connection/database.ts';
import type { Writer } from '../connection/writer.ts';

/** Condition for rows of `nodes`. */
export const isAlive = `beat_at > clock_timestamp() - interval '${leaseSeconds} seconds'`;

const columns = 'nodes.id, address, version, started_at AS "startedAt"';

/** Creates the store of the nodes on a PostgreSQL database. */
export function createNodeStore(db: Database, writer: Writer): NodeStore {
  return {
    // Outside the order of writes: a long write of one node must not end the leases of all.
    async beat({ id, address, version, startedAt }) {
      await db.run(
        `INSERT INTO nodes (id, address, version, started_at, beat_at) VALUES ($1, $2, $3, $4, clock_timestamp())
         ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`,
        [id, address, version, startedAt],
      );
    },
    leave: (id) =>
      writer.write(
        async (tx) => {
          tx.send('UPDATE mcp_sessions SET node_id = NULL WHERE node_id = $1', [id]);
          tx.send('DELETE FROM nodes WHERE id = $1', [id]);
        },
        { inOneFlight: true },
      ),
    list: () => db.rows<NodeRow>(`SELECT ${columns} FROM nodes WHERE ${isAlive} ORDER BY started_at, id`),
    claimSession: (key, id) =>
      writer.write(async (tx) => {
        const claimed = await tx.run(
          `UPDATE mcp_sessions SET node_id = $2
           WHERE key = $1 AND (node_id IS NULL OR node_id = $2
             OR node_id NOT IN (SELECT id FROM nodes WHERE ${isAlive}))`,
          [key, id],
        );
        if (claimed === 1) return 'claimed';
        return (await tx.row('SELECT 1 AS found FROM mcp_sessions WHERE key = $1', [key]))
          ? 'taken'
          : 'missing';
      }),
    releaseSessions: (keys, id) =>
      writer.write(
        async (tx) =>
          tx.send('UPDATE mcp_sessions SET node_id = NULL WHERE key = ANY ($1) AND node_id = $2', [keys, id]),
        { inOneFlight: true },
      ),
    ownerOf: (key) =>
      db.row<NodeRow>(
        `SELECT ${columns} FROM nodes JOIN mcp_sessions ON node_id = nodes.id WHERE key = $1 AND ${isAlive}`,
        [key],
      ),
  };
}
