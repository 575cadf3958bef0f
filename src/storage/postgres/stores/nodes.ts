import { leaseSeconds, type NodeRow, type NodeStore } from '../../nodes.ts';
import type { Database } from '../connection/database.ts';
import { ProgramTooOld } from '../connection/errors.ts';
import { programSchema } from '../connection/schema.ts';
import type { Writer } from '../connection/writer.ts';

const isAlive = `beat_at > clock_timestamp() - interval '${leaseSeconds} seconds'`;

const columns = 'nodes.id, address, version, started_at AS "startedAt"';

/** Creates the store of the nodes on a PostgreSQL database. */
export function createNodeStore(db: Database, writer: Writer): NodeStore {
  return {
    // Outside the order of writes: a long write of one node must not end the leases of all.
    async beat({ id, address, version, startedAt }) {
      const beaten = await db.run(
        `INSERT INTO nodes (id, address, version, started_at, schema, beat_at)
         SELECT $1::text, $2::text, $3::text, $4::bigint, $5::integer, clock_timestamp()
           FROM commit_order WHERE min_reader <= $5::integer
         ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`,
        [id, address, version, startedAt, programSchema()],
      );
      if (beaten === 0) throw new ProgramTooOld();
      await db.run("DELETE FROM nodes WHERE beat_at < clock_timestamp() - interval '1 day'");
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
