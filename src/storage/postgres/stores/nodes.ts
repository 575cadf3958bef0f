import {
  type ListedNode,
  messageBatchSize,
  type NodeMessageStore,
  type NodeRow,
  type NodeStore,
} from '../../nodes.ts';
import type { ChangeMarks } from '../connection/change-marks.ts';
import { type Database, isAlive } from '../connection/database.ts';
import { ProgramTooOld } from '../connection/errors.ts';
import { programSchema } from '../connection/schema.ts';
import type { Writer } from '../connection/writer.ts';

const columns = `nodes.id, address, version, started_at AS "startedAt", settings_hash AS "settingsHash",
  refuses_file AS "refusesFile"`;

/** Creates the store of the nodes on a PostgreSQL database. */
export function createNodeStore(db: Database, writer: Writer): NodeStore {
  return {
    // Outside the order of writes: a long write of one node must not end the leases of all.
    async beat({ id, address, version, startedAt, settingsHash, refusesFile }) {
      const beaten = await db.run(
        `INSERT INTO nodes (id, address, version, started_at, schema, beat_at, settings_hash, refuses_file)
         SELECT $1::text, $2::text, $3::text, $4::bigint, $5::integer, clock_timestamp(), $6::text, $7::boolean
           FROM commit_order WHERE min_reader <= $5::integer
         ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at, settings_hash = excluded.settings_hash,
           refuses_file = excluded.refuses_file`,
        [id, address, version, startedAt, programSchema(), settingsHash, refusesFile],
      );
      if (beaten === 0) throw new ProgramTooOld();
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
    listAll: () =>
      db.rows<ListedNode>(
        `SELECT ${columns}, ${isAlive} AS "isAlive",
           (SELECT count(*) FROM mcp_sessions WHERE node_id = nodes.id) AS sessions
         FROM nodes ORDER BY started_at, nodes.id`,
      ),
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

/** A message, or none, with the ends of all messages as they are at the same moment. */
interface MessageRow {
  last: number;
  removed: number;
  position: number | null;
  /** Null for a message of the reading node. */
  payload: Uint8Array | null;
  ageMs: number;
}

/** Creates the messages of the nodes on a PostgreSQL database. */
export function createNodeMessageStore(db: Database, writer: Writer, marks: ChangeMarks): NodeMessageStore {
  return {
    // Writes are serial over all nodes, so a position that is given later is committed later.
    post: (nodeId, payload) =>
      writer.write(
        async (tx) =>
          tx.send(
            `WITH numbered AS (UPDATE node_message_ends SET last_position = last_position + 1 RETURNING last_position)
             INSERT INTO node_messages (position, node_id, payload) SELECT last_position, $1, $2 FROM numbered`,
            [nodeId, payload],
          ),
        { inOneFlight: true },
      ),
    async lastPosition() {
      const ends = await db.row<{ last: number }>('SELECT last_position AS last FROM node_message_ends');
      return ends?.last ?? 0;
    },
    mark: () => marks.of('node_messages'),
    async read(position, nodeId) {
      const rows = await db.rows<MessageRow>(
        `SELECT last_position AS last, removed_position AS removed, message.*
         FROM node_message_ends LEFT JOIN LATERAL (
           SELECT position, CASE WHEN node_id <> $2 THEN payload END AS payload,
             (extract(epoch FROM clock_timestamp() - posted_at) * 1000)::float8 AS "ageMs"
           FROM node_messages WHERE position > $1 ORDER BY position LIMIT ${messageBatchSize}
         ) AS message ON true ORDER BY message.position`,
        [position, nodeId],
      );
      const { last = 0, removed = 0 } = rows[0] ?? {};
      const isComplete = removed <= position && position <= last;
      const isEnd = rows.length < messageBatchSize;
      return {
        messages: rows.flatMap(({ payload, ageMs }) => (payload ? [{ payload, ageMs }] : [])),
        position: isEnd ? last : (rows.at(-1)?.position ?? last),
        isEnd,
        isComplete,
      };
    },
  };
}
