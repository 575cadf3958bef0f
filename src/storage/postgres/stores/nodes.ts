import {
  type ListedNode,
  messageBatchSize,
  type NodeMessageStore,
  type NodeRow,
  type NodeStore,
} from '../../nodes.ts';
import { AnotherServer } from '../../storage.ts';
import type { ChangeMarks } from '../connection/change-marks.ts';
import { type Database, hasPort, isAlive } from '../connection/database.ts';
import { programSchema } from '../connection/schema.ts';
import type { Writer } from '../connection/writer.ts';

const columns = `nodes.id, address, version, started_at AS "startedAt", settings_hash AS "settingsHash",
  refuses_file AS "refusesFile"`;

const releaseAll = 'UPDATE mcp_sessions SET node_id = NULL WHERE node_id = $1';

/** Creates the store of the nodes on a PostgreSQL database. */
export function createNodeStore(db: Database, writer: Writer): NodeStore {
  return {
    async beat({ id, address, version, startedAt, settingsHash, refusesFile }) {
      // Outside the order of writes: a long write of one node must not end the leases of all.
      const renewed = await db.run(
        `UPDATE nodes SET beat_at = clock_timestamp(), settings_hash = $2, refuses_file = $3
           FROM commit_order WHERE nodes.id = $1 AND (${isAlive} OR NOT ${hasPort}) AND min_reader <= $4::integer`,
        [id, settingsHash, refusesFile, programSchema()],
      );
      if (renewed === 1) return true;
      await writer.write(async (tx) => {
        // First: a server without a port whose row is gone cannot renew its lease. A row that is left makes this one wait.
        tx.send(`DELETE FROM nodes WHERE id <> $1 AND NOT (${hasPort} OR ${isAlive})`, [id]);
        const rival = await tx.row<{ address: string; lease: string }>(
          `SELECT address, id || ' ' || beat_at AS lease FROM nodes
             WHERE id <> $1 AND NOT (${hasPort} AND ($2 OR NOT ${isAlive})) ORDER BY beat_at DESC LIMIT 1`,
          [id, address.includes(':')],
        );
        if (rival) throw new AnotherServer(rival.address, rival.lease);
        tx.send(releaseAll, [id]);
        tx.send(
          `INSERT INTO nodes (id, address, version, started_at, schema, beat_at, settings_hash, refuses_file)
           VALUES ($1, $2, $3, $4, $5, clock_timestamp(), $6, $7)
           ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at, settings_hash = excluded.settings_hash,
             refuses_file = excluded.refuses_file`,
          [id, address, version, startedAt, programSchema(), settingsHash, refusesFile],
        );
      });
      return false;
    },
    leave: (id) =>
      writer.write(
        async (tx) => {
          tx.send(releaseAll, [id]);
          tx.send('DELETE FROM nodes WHERE id = $1', [id]);
        },
        { inOneFlight: true },
      ),
    list: () =>
      db.rows<NodeRow>(
        `SELECT ${columns} FROM nodes WHERE ${isAlive} AND ${hasPort} ORDER BY started_at, id`,
      ),
    listAll: () =>
      db.rows<ListedNode>(
        `SELECT ${columns}, ${isAlive} AS "isAlive",
           (SELECT count(*) FROM mcp_sessions WHERE node_id = nodes.id) AS sessions
         FROM nodes WHERE ${hasPort} ORDER BY started_at, nodes.id`,
      ),
    claimSession: (key, id) =>
      writer.write(async (tx) => {
        // Beats are outside the order of writes. One that is not committed yet is waited for; one that comes later finds the
        // row changed and its own lease over.
        tx.send(
          `UPDATE nodes SET beat_at = beat_at
             WHERE id = (SELECT node_id FROM mcp_sessions WHERE key = $1) AND NOT (${isAlive})`,
          [key],
        );
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
  let setBacks = marks.setBacks;
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
      const isComplete = removed <= position && position <= last && setBacks === marks.setBacks;
      ({ setBacks } = marks);
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
