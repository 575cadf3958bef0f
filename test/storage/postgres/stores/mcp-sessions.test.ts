import { describe, expect, it, onTestFinished } from 'vitest';
import { watchChangeMarks } from '../../../../src/storage/postgres/connection/change-marks.ts';
import { openPool } from '../../../../src/storage/postgres/connection/database.ts';
import {
  createWriter,
  type Transaction,
  type Writer,
} from '../../../../src/storage/postgres/connection/writer.ts';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import {
  createMcpSessionStore,
  createMcpSweep,
} from '../../../../src/storage/postgres/stores/mcp-sessions.ts';
import { session, wide } from '../../contract/mcp-session.ts';
import {
  describeMcpSessions,
  describeMcpStreams,
  describeMcpSweep,
  describeSessionsOfNodes,
} from '../../contract/mcp-sessions.ts';
import { openForTest, startOfTime } from '../../contract/subject.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => {
  describeMcpSessions(() => openNewDatabase(server()));
  describeSessionsOfNodes(() => openNewDatabase(server()));
});

describe('PostgreSQL', () => describeMcpStreams(() => openNewDatabase(server())));

describe('PostgreSQL', () => describeMcpSweep(() => openNewDatabase(server())));

it('The end of a session by another node changes the mark', async () => {
  const url = await server().createDatabase();
  const [ours, theirs] = await Promise.all([1, 2].map(() => openForTest(() => openPostgresStorage({ url }))));
  if (!ours || !theirs) throw new Error('there is no node');
  for (const key of ['a', 'b']) await ours.mcpSessions.open(session(key), wide);
  const mark = await ours.mcpSessions.othersMark();
  await theirs.mcpSessions.end('b');
  await expect.poll(() => ours.mcpSessions.othersMark()).not.toBe(mark);
  expect(await ours.mcpSessions.filterPresent(['a', 'b'])).toEqual(['a']);
});

/** A new database with its writer and store of MCP sessions. */
async function openParts() {
  const url = await server().createDatabase();
  await (await openPostgresStorage({ url })).close();
  const db = openPool({ url });
  const marks = await watchChangeMarks(db);
  const writer = createWriter({ url }, marks);
  onTestFinished(async () => {
    await writer.close();
    marks.close();
    await db.close();
  });
  return { db, writer, store: createMcpSessionStore(db, writer, marks) };
}

describe('rows of an MCP session', () => {
  const roomy = { maxEvents: 10, maxBytes: 1000 };

  /** A database with sessions `a` and `b` that have a stream and two events each. */
  async function openFilled() {
    const { db, store } = await openParts();
    for (const key of ['a', 'b']) {
      await store.open(session(key), wide);
      const events = [1, 2].map((position) => ({ stream: 's', position, data: '"four"' }));
      await store.append(key, events, roomy, startOfTime);
    }
    const counts = async () => {
      const row = await db.row<Record<string, number>>(
        `SELECT (SELECT count(*) FROM mcp_sessions) AS sessions, (SELECT count(*) FROM mcp_streams) AS streams,
           (SELECT count(*) FROM mcp_events) AS events, (SELECT count(*) FROM mcp_event_totals) AS totals,
           (SELECT sum(sessions)::bigint FROM mcp_session_counts) AS "ofPrincipals",
           (SELECT sessions FROM mcp_session_total) AS "inAll"`,
      );
      return Object.values(row ?? {});
    };
    return { db, store, counts };
  }

  it('are all gone when it ends, and none of another', async () => {
    const { store, counts } = await openFilled();
    expect(await counts()).toEqual([2, 2, 4, 2, 2, 2]);
    await store.end('a');
    expect(await counts()).toEqual([1, 1, 2, 1, 1, 1]);
    await store.end('b');
    expect(await counts()).toEqual([0, 0, 0, 0, null, 0]);
  });

  it('are counted as they come and go, so that a bound reads no events', async () => {
    const { db, store } = await openFilled();
    const totals = async () =>
      (await db.rows<object>('SELECT events, bytes FROM mcp_event_totals ORDER BY 1, 2')).map(Object.values);
    expect(await totals()).toEqual([
      [2, 12],
      [2, 12],
    ]);
    await store.append('a', [{ stream: 's', position: 3, data: '"ü"' }], roomy, startOfTime);
    await store.closeStream('b', 's');
    expect(await totals()).toEqual([
      [0, 0],
      [3, 16],
    ]);
  });
});

describe('the sweep of MCP sessions', () => {
  it('removes few rows in one commit, of many sessions or of few with many events (T-180)', async () => {
    const { db, writer } = await openParts();
    await db.run(
      `INSERT INTO mcp_sessions (key, principal, initialize, protocol_version, is_initialized, subscriptions, created_at, used_at)
       SELECT 'k' || i, 'p' || (i % 100), '{}', '2025-11-25', true, '[]', 1, i % 7 FROM generate_series(1, 2000) AS n (i)`,
    );
    await db.run(
      `INSERT INTO mcp_streams (session_id, name, owed, created_at) SELECT id, 's', '[]', 1 FROM mcp_sessions`,
    );
    await db.run(
      `INSERT INTO mcp_events (stream_id, session_id, position, created_at, data)
       SELECT id, session_id, i, i % 20, 'data' FROM mcp_streams, generate_series(1, 40) AS n (i) WHERE session_id % 10 = 0`,
    );
    const batches: number[] = [];
    const rows = async (tx: Transaction): Promise<number> => {
      const row = await tx.row<{ rows: number }>(
        `SELECT (SELECT count(*) FROM mcp_sessions) + (SELECT count(*) FROM mcp_streams) + (SELECT count(*) FROM mcp_events) AS rows`,
      );
      return row?.rows ?? 0;
    };
    const counted: Writer = {
      ...writer,
      write: (work) =>
        writer.write(async (tx) => {
          const before = await rows(tx);
          const result = await work(tx);
          batches.push(before - (await rows(tx)));
          return result;
        }),
    };
    const bounds = { usedBefore: 7, eventsBefore: 10, keep: ['k1', 'k2000'] };
    const ended = await createMcpSweep(counted)(bounds);
    expect(new Set(ended).size).toBe(1998);
    expect(Math.max(...batches)).toBeLessThanOrEqual(300);
    expect(batches.filter((removed) => removed > 100).length).toBeGreaterThan(10);
    const left = await db.rows<{ key: string }>('SELECT key FROM mcp_sessions ORDER BY id');
    expect(left.map(({ key }) => key)).toEqual(['k1', 'k2000']);
    expect(await db.row('SELECT sessions FROM mcp_session_total')).toEqual({ sessions: 2 });
  });
});
