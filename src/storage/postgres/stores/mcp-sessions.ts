import type {
  McpSessionStore,
  McpSessionStores,
  SessionChange,
  SessionSummary,
  StoredEvent,
  StoredSession,
} from '../../mcp-sessions.ts';
import type { ChangeMarks } from '../connection/change-marks.ts';
import { type Database, isAlive } from '../connection/database.ts';
import type { Transaction, Writer } from '../connection/writer.ts';

/** Sessions recorded as used in one commit: small enough to not delay other writes. */
const touchedAtOnce = 250;

interface Row extends Omit<StoredSession, 'subscriptions'> {
  subscriptions: string;
}

function toSession(row: Row): StoredSession {
  return { ...row, subscriptions: JSON.parse(row.subscriptions) as string[] };
}

const columns = `key, principal, initialize, protocol_version AS "protocolVersion", is_initialized AS "isInitialized",
  log_level AS "logLevel", subscriptions, created_at AS "createdAt", used_at AS "usedAt", grant_hash AS "grantHash"`;

/**
 * Condition for rows of `mcp_sessions` that a node may write to; without a node all.
 * @param at number of the parameter that holds the node
 */
type OwnedBy = (at: number) => string;

function ownedBy(node: string | undefined): OwnedBy {
  return (at) => (node === undefined ? '' : ` AND node_id = $${at}`);
}

const sql = (isOwn: OwnedBy) => ({
  count: 'SELECT sessions FROM mcp_session_counts WHERE principal = $1',
  open: `INSERT INTO mcp_sessions (key, principal, initialize, protocol_version, is_initialized, log_level,
       subscriptions, created_at, used_at, grant_hash, node_id)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $13::text
     WHERE coalesce((SELECT sessions FROM mcp_session_counts WHERE principal = $2), 0) < $11::bigint
       AND (SELECT sessions FROM mcp_session_total) < $12::bigint`,
  find: `SELECT ${columns} FROM mcp_sessions WHERE key = $1`,
  listBelow: `SELECT ${columns} FROM mcp_sessions WHERE principal >= $1 AND principal < $2
     ORDER BY used_at DESC, id DESC`,
  listOf: 'SELECT key FROM mcp_sessions WHERE principal = $1 ORDER BY used_at, id',
  list: `SELECT key, principal, protocol_version AS "protocolVersion", created_at AS "createdAt", used_at AS "usedAt"
     FROM mcp_sessions ORDER BY used_at DESC, id DESC`,
  filterPresent: 'SELECT key FROM mcp_sessions WHERE key = ANY ($1)',
  change: `UPDATE mcp_sessions SET is_initialized = coalesce($2, is_initialized),
       subscriptions = coalesce($3, subscriptions), used_at = coalesce($4, used_at),
       log_level = CASE WHEN $5::boolean THEN $6 ELSE log_level END,
       grant_hash = CASE WHEN $7::boolean THEN $8 ELSE grant_hash END
     WHERE key = $1${isOwn(9)}`,
  touch: `UPDATE mcp_sessions SET used_at = $2 WHERE key = ANY ($1) AND used_at < $2${isOwn(3)}`,
  end: 'DELETE FROM mcp_sessions WHERE key = $1',
});

/** Creates the stores of MCP sessions in a PostgreSQL database. */
export function createMcpSessionStore(db: Database, writer: Writer, marks: ChangeMarks): McpSessionStores {
  return { ...createStore(db, writer, marks), ofNode: (id) => createStore(db, writer, marks, id) };
}

/** @param node the node whose sessions it writes to; undefined for all */
function createStore(db: Database, writer: Writer, marks: ChangeMarks, node?: string): McpSessionStore {
  const texts = sql(ownedBy(node));
  const by = node === undefined ? [] : [node];
  const keysOf = (rows: readonly { key: string }[]): string[] => rows.map(({ key }) => key);
  return {
    isRemote: true,
    open: (session, caps) =>
      writer.write(
        async (tx) => {
          const [ofPrincipal, opened] = await Promise.all([
            tx.row<{ sessions: number }>(texts.count, [session.principal]),
            tx.run(texts.open, [
              ...[session.key, session.principal, session.initialize, session.protocolVersion],
              ...[session.isInitialized, session.logLevel, JSON.stringify(session.subscriptions)],
              ...[session.createdAt, session.usedAt, session.grantHash],
              ...[caps.maxPerPrincipal, caps.maxTotal, node],
            ]),
          ]);
          if (opened === 1) return 'opened';
          return (ofPrincipal?.sessions ?? 0) >= caps.maxPerPrincipal ? 'principal_full' : 'full';
        },
        { inOneFlight: true },
      ),
    async find(key) {
      const row = await db.row<Row>(texts.find, [key]);
      return row && toSession(row);
    },
    listOf: async (principal) => keysOf(await db.rows(texts.listOf, [principal])),
    list: () => db.rows<SessionSummary>(texts.list),
    filterPresent: async (keys) => keysOf(await db.rows(texts.filterPresent, [keys])),
    othersMark: async () => String(marks.of('mcp_sessions')),
    // The number sign is the character after the quotation mark that ends a prefix.
    listBelow: async (prefix) =>
      (await db.rows<Row>(texts.listBelow, [prefix, `${prefix.slice(0, -1)}#`])).map(toSession),
    change: (key, { isInitialized, subscriptions, usedAt, logLevel, grantHash }: SessionChange) =>
      writer.write(
        async (tx) => {
          const changed = await tx.run(texts.change, [
            ...[key, isInitialized, subscriptions && JSON.stringify(subscriptions), usedAt],
            ...[logLevel !== undefined, logLevel, grantHash !== undefined, grantHash, ...by],
          ]);
          return changed === 1;
        },
        { inOneFlight: true },
      ),
    async touch(keys, usedAt) {
      for (let from = 0; from < keys.length; from += touchedAtOnce) {
        const some = keys.slice(from, from + touchedAtOnce);
        await writer.write(async (tx) => tx.send(texts.touch, [some, usedAt, ...by]), { inOneFlight: true });
      }
    },
    end: (key) => writer.write(async (tx) => (await tx.run(texts.end, [key])) === 1, { inOneFlight: true }),
    ...createMcpStreamStore(db, writer, node),
    sweep: createMcpSweep(writer, node),
  };
}

interface ResumedRow {
  owed: string;
  /** Null if the stream has no event after the position. */
  position: number | null;
  data: string;
  answers: string | null;
}

const sessionOfKey = '(SELECT id FROM mcp_sessions WHERE key = $1)';

const streamSql = (isOwn: OwnedBy) => ({
  open: `INSERT INTO mcp_streams (session_id, name, owed, lasts, created_at)
     SELECT id, $2, $3, $3 = '[]', $4 FROM mcp_sessions WHERE key = $1${isOwn(5)}
     ON CONFLICT (session_id, name) DO UPDATE SET owed = excluded.owed, created_at = excluded.created_at`,
  begin: `INSERT INTO mcp_streams (session_id, name, owed, created_at)
     SELECT mcp_sessions.id, begun.name, '[]', $3 FROM mcp_sessions, unnest($2::text[]) AS begun (name)
     WHERE key = $1${isOwn(4)}
     ON CONFLICT (session_id, name) DO NOTHING`,
  // Sorted, so that ids grow in the order of arrival.
  keep: `INSERT INTO mcp_events (stream_id, session_id, position, answers, created_at, data)
     SELECT mcp_streams.id, session_id, event.position, nullif(event.answers, ''), $6, event.data
     FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[])
       WITH ORDINALITY AS event (stream, position, answers, data, number)
     JOIN mcp_streams ON name = event.stream
       AND session_id = (SELECT id FROM mcp_sessions WHERE key = $1${isOwn(7)})
     ORDER BY event.number`,
  answer: `UPDATE mcp_streams SET owed = (owed::jsonb - said.answers)::text
     FROM (SELECT stream, array_agg(answers) AS answers
       FROM unnest($2::text[], $3::text[]) AS event (stream, answers) GROUP BY stream) AS said
     WHERE name = said.stream AND session_id = (SELECT id FROM mcp_sessions WHERE key = $1${isOwn(4)})`,
  // Walks from the oldest event to the first that may stay. A stream goes with its last answer: nothing is left to
  // resume. Both deletions see the rows as they were before.
  drop: `WITH RECURSIVE walked (session_id, id, events, bytes) AS (
       SELECT session_id, 0::bigint, events, bytes FROM mcp_event_totals
       WHERE session_id = (SELECT id FROM mcp_sessions WHERE key = $1${isOwn(4)})
       UNION ALL
       SELECT walked.session_id, oldest.id, walked.events - 1, walked.bytes - oldest.size
       FROM walked CROSS JOIN LATERAL (SELECT id, octet_length(data) AS size FROM mcp_events
         WHERE session_id = walked.session_id AND id > walked.id ORDER BY id LIMIT 1) AS oldest
       WHERE walked.events > $2::bigint OR walked.bytes > $3::bigint
     ), dropped AS (
       DELETE FROM mcp_events WHERE id IN (SELECT id FROM walked) RETURNING stream_id, answers
     )
     DELETE FROM mcp_streams
     WHERE id IN (SELECT stream_id FROM dropped WHERE answers IS NOT NULL) AND owed = '[]'
       AND NOT EXISTS (SELECT FROM mcp_events
         WHERE stream_id = mcp_streams.id AND mcp_events.id NOT IN (SELECT walked.id FROM walked))`,
  resume: `SELECT owed, position, data, answers
     FROM mcp_streams LEFT JOIN mcp_events ON stream_id = mcp_streams.id AND position > $3
     WHERE mcp_streams.session_id = ${sessionOfKey} AND name = $2 ORDER BY position`,
  close: `DELETE FROM mcp_streams
     WHERE name = $2 AND session_id = (SELECT id FROM mcp_sessions WHERE key = $1${isOwn(3)})`,
});

/** Creates the store of the streams of MCP sessions and their events. */
function createMcpStreamStore(
  db: Database,
  writer: Writer,
  node: string | undefined,
): Pick<McpSessionStore, 'openStream' | 'append' | 'resume' | 'closeStream'> {
  const texts = streamSql(ownedBy(node));
  const by = node === undefined ? [] : [node];

  /** @returns the number of stored events */
  function keep(
    tx: Transaction,
    key: string,
    events: readonly StoredEvent[],
    createdAt: number,
  ): Promise<number> {
    const names = events.map(({ stream }) => stream);
    tx.send(texts.begin, [key, [...new Set(names)], createdAt, ...by]);
    const positions = events.map(({ position }) => String(position));
    const answers = events.map((event) => event.answers ?? '');
    const data = events.map((event) => event.data);
    const kept = tx.run(texts.keep, [key, names, positions, answers, data, createdAt, ...by]);
    const said = events.filter((event) => event.answers !== undefined);
    if (said.length > 0)
      tx.send(texts.answer, [
        ...[key, said.map(({ stream }) => stream), said.map((event) => event.answers ?? ''), ...by],
      ]);
    return kept;
  }

  return {
    openStream: (key, { stream, owed }, createdAt) =>
      writer.write(
        async (tx) => (await tx.run(texts.open, [key, stream, JSON.stringify(owed), createdAt, ...by])) === 1,
        { inOneFlight: true },
      ),
    append: (key, events, { maxEvents, maxBytes }, createdAt) =>
      writer.write(
        async (tx) => {
          const kept = keep(tx, key, events, createdAt);
          tx.send(texts.drop, [key, maxEvents, maxBytes, ...by]);
          return (await kept) > 0;
        },
        { inOneFlight: true },
      ),
    async resume(key, stream, after) {
      const rows = await db.rows<ResumedRow>(texts.resume, [key, stream, after]);
      const [first] = rows;
      if (!first) return undefined;
      const events = rows.flatMap(({ position, data, answers }) =>
        position === null ? [] : { stream, position, data, ...(answers === null ? undefined : { answers }) },
      );
      return { stream, owed: JSON.parse(first.owed) as string[], events };
    },
    closeStream: (key, stream) =>
      writer.write(async (tx) => tx.send(texts.close, [key, stream, ...by]), { inOneFlight: true }),
  };
}

/** Rows read and removed in one commit: small enough to not delay other writes (T-180). */
const batchSize = 250;

/** A position in the order of time. */
interface Place {
  id: number;
  at: number;
}

/** A session that may be due, with the number of rows that go with it. */
interface SessionCandidate extends Place {
  key: string;
  rows: number;
}

const sweepSql = {
  removeEvents: `DELETE FROM mcp_events
     WHERE id IN (SELECT id FROM mcp_events WHERE created_at < $1 LIMIT ${batchSize})`,
  removeStreams: `WITH old AS (
       SELECT id, created_at FROM mcp_streams
       WHERE created_at < $1 AND NOT lasts AND owed = '[]' AND (created_at, id) > ($2, $3)
       ORDER BY created_at, id LIMIT ${batchSize}
     ), removed AS (
       DELETE FROM mcp_streams WHERE id IN (SELECT id FROM old)
         AND NOT EXISTS (SELECT FROM mcp_events WHERE stream_id = mcp_streams.id)
     )
     SELECT id, created_at AS at FROM old ORDER BY created_at DESC, id DESC LIMIT 1`,
  unusedSessions: (isFree: string) => `SELECT id, used_at AS at, key,
       1 + (SELECT count(*) FROM mcp_streams WHERE session_id = mcp_sessions.id)
         + coalesce((SELECT events FROM mcp_event_totals WHERE session_id = mcp_sessions.id), 0) AS rows
     FROM mcp_sessions WHERE used_at < $1 AND (used_at, id) > ($2, $3) ${isFree} ORDER BY used_at, id LIMIT ${batchSize}`,
  endSessions: 'DELETE FROM mcp_sessions WHERE id = ANY ($1::bigint[])',
  /** Condition for sessions that no other node has which is alive. */
  isFree: `AND (node_id IS NULL OR node_id = $4 OR node_id NOT IN (SELECT id FROM nodes WHERE ${isAlive}))`,
} as const;

const beginning: Place = { id: 0, at: Number.MIN_SAFE_INTEGER };

/**
 * Creates the sweep of MCP sessions. Events are removed first, so that few rows depend on the sessions and streams
 * removed later.
 */
export function createMcpSweep(writer: Writer, node?: string): McpSessionStore['sweep'] {
  const unusedSessions = sweepSql.unusedSessions(node === undefined ? '' : sweepSql.isFree);
  /** Ends the sessions of a batch; a batch ends when enough rows were read or removed. */
  async function endBatch(
    tx: Transaction,
    { usedBefore, after, kept }: { usedBefore: number; after: Place; kept: ReadonlySet<string> },
  ): Promise<{ ended: SessionCandidate[]; last: Place | undefined }> {
    const candidates = await tx.rows<SessionCandidate>(unusedSessions, [
      ...[usedBefore, after.at, after.id, ...(node === undefined ? [] : [node])],
    ]);
    const read: SessionCandidate[] = [];
    let rows = 0;
    for (const candidate of candidates) {
      if (rows >= batchSize) break;
      read.push(candidate);
      if (!kept.has(candidate.key)) rows += candidate.rows;
    }
    const ended = read.filter(({ key }) => !kept.has(key));
    tx.send(sweepSql.endSessions, [ended.map(({ id }) => String(id))]);
    return { ended, last: read.at(-1) };
  }

  return async ({ usedBefore, eventsBefore, keep }) => {
    for (let removed = batchSize; removed === batchSize; )
      removed = await writer.write((tx) => tx.run(sweepSql.removeEvents, [eventsBefore]), {
        inOneFlight: true,
      });
    for (let place: Place | undefined = beginning; place; ) {
      const { at, id }: Place = place;
      place = await writer.write((tx) => tx.row<Place>(sweepSql.removeStreams, [eventsBefore, at, id]), {
        inOneFlight: true,
      });
    }
    const kept = new Set(keep);
    const ended: string[] = [];
    for (let place: Place | undefined = beginning; place; ) {
      const after: Place = place;
      const batch = await writer.write((tx) => endBatch(tx, { usedBefore, after, kept }));
      ended.push(...batch.ended.map(({ key }) => key));
      place = batch.last;
    }
    return ended;
  };
}
