import type Database from 'better-sqlite3';
import {
  type ListedNode,
  leaseSeconds,
  messageBatchSize,
  type NodeMessageStore,
  type NodeRow,
  type NodeStore,
} from '../../nodes.ts';
import type { Writer } from '../connection/writer.ts';

/** Epoch milliseconds of the machine that all processes of a folder share. */
const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** Condition for rows of `nodes`. */
export const isAlive = `beat_at_ms > ${now} - ${leaseSeconds * 1000}`;

/** A node whose booleans are 0 and 1. */
type Stored<Row> = { [Member in keyof Row]: Row[Member] extends boolean ? number : Row[Member] };

function toNode({ refusesFile, ...row }: Stored<NodeRow>): NodeRow {
  return { ...row, refusesFile: refusesFile === 1 };
}

/** Creates the store of the processes on a SQLite database. */
export function createNodeStore(db: Database.Database, writer: Writer): NodeStore {
  const columns = `nodes.id, address, version, started_at AS startedAt, settings_hash AS settingsHash,
    refuses_file AS refusesFile`;
  const renew = db.prepare(
    `UPDATE nodes SET beat_at_ms = ${now}, settings_hash = @settingsHash, refuses_file = @refusesFile
     WHERE id = @id AND ${isAlive}`,
  );
  const begin = db.prepare(
    `INSERT INTO nodes (id, address, version, started_at, beat_at_ms, settings_hash, refuses_file)
     VALUES (@id, @address, @version, @startedAt, ${now}, @settingsHash, @refusesFile)
     ON CONFLICT (id) DO UPDATE SET beat_at_ms = excluded.beat_at_ms, settings_hash = excluded.settings_hash,
       refuses_file = excluded.refuses_file`,
  );
  const leave = db.prepare('DELETE FROM nodes WHERE id = ?');
  const releaseAll = db.prepare('UPDATE mcp_sessions SET node_id = NULL WHERE node_id = ?');
  const list = db.prepare<[], Stored<NodeRow>>(
    `SELECT ${columns} FROM nodes WHERE ${isAlive} ORDER BY started_at, id`,
  );
  const listAll = db.prepare<[], Stored<ListedNode>>(
    `SELECT ${columns}, ${isAlive} AS isAlive,
       (SELECT count(*) FROM mcp_sessions WHERE node_id = nodes.id) AS sessions
     FROM nodes ORDER BY started_at, nodes.id`,
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
  const ownerOf = db.prepare<[string], Stored<NodeRow>>(
    `SELECT ${columns} FROM nodes JOIN mcp_sessions ON node_id = nodes.id WHERE key = ? AND ${isAlive}`,
  );

  return {
    beat: (node) =>
      writer.write(() => {
        const row = { ...node, refusesFile: Number(node.refusesFile) };
        if (renew.run(row).changes === 1) return true;
        releaseAll.run(node.id);
        begin.run(row);
        return false;
      }),
    leave: (id) =>
      writer.write(() => {
        releaseAll.run(id);
        leave.run(id);
      }),
    list: async () => list.all().map(toNode),
    listAll: async () =>
      listAll
        .all()
        .map(({ isAlive: alive, sessions, ...row }) => ({ ...toNode(row), isAlive: alive === 1, sessions })),
    claimSession: (key, id) =>
      writer.write(() => {
        if (claim.run({ key, id }).changes === 1) return 'claimed';
        return isStored.get(key) ? 'taken' : 'missing';
      }),
    releaseSessions: (keys, id) => writer.write(() => void release.run(JSON.stringify(keys), id)),
    async ownerOf(key) {
      const owner = ownerOf.get(key);
      return owner && toNode(owner);
    },
  };
}

/** A message of a process. */
interface MessageRow {
  position: number;
  /** Null for a message of the reading process. */
  payload: Uint8Array | null;
  ageMs: number;
}

/** Creates the messages of the processes on a SQLite database. */
export function createNodeMessageStore(db: Database.Database, writer: Writer): NodeMessageStore {
  const count = db.prepare('UPDATE node_message_ends SET last_position = last_position + 1');
  const add = db.prepare(
    `INSERT INTO node_messages (position, node_id, payload, posted_at_ms)
     SELECT last_position, ?, ?, ${now} FROM node_message_ends`,
  );
  const ends = db.prepare<[], { last: number; removed: number }>(
    'SELECT last_position AS last, removed_position AS removed FROM node_message_ends',
  );
  const after = db.prepare<{ position: number; nodeId: string }, MessageRow>(
    `SELECT position, CASE WHEN node_id <> @nodeId THEN payload END AS payload, ${now} - posted_at_ms AS ageMs
     FROM node_messages WHERE position > @position ORDER BY position LIMIT ${messageBatchSize}`,
  );
  const lastPosition = (): number => ends.get()?.last ?? 0;
  const read = db.transaction((position: number, nodeId: string) => ({
    ...(ends.get() ?? { last: 0, removed: 0 }),
    rows: after.all({ position, nodeId }),
  }));
  return {
    post: (nodeId, payload) =>
      writer.write(() => {
        count.run();
        add.run(nodeId, payload);
      }),
    lastPosition: async () => lastPosition(),
    mark: lastPosition,
    async read(position, nodeId) {
      const { last, removed, rows } = read(position, nodeId);
      const isEnd = rows.length < messageBatchSize;
      return {
        messages: rows.flatMap(({ payload, ageMs }) => (payload ? [{ payload, ageMs }] : [])),
        position: isEnd ? last : (rows.at(-1)?.position ?? last),
        isEnd,
        isComplete: removed <= position && position <= last,
      };
    },
  };
}
