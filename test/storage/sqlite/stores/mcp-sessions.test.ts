import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { createWriter, type Writer } from '../../../../src/storage/sqlite/connection/writer.ts';
import { openSqliteStorage } from '../../../../src/storage/sqlite/index.ts';
import { createMcpSessionStore, createMcpSweep } from '../../../../src/storage/sqlite/stores/mcp-sessions.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { patience } from '../../../support/patience.ts';
import { session, wide } from '../../contract/mcp-session.ts';
import {
  describeMcpSessions,
  describeMcpStreams,
  describeMcpSweep,
  describeSessionsOfNodes,
} from '../../contract/mcp-sessions.ts';
import { startOfTime } from '../../contract/subject.ts';
import { openNewDatabase } from '../subject.ts';

describe('SQLite', () => {
  describeMcpSessions(openNewDatabase);
  describeSessionsOfNodes(openNewDatabase);
});

it('The end of a session by this process leaves the mark of others as it is, and that by another changes it', async () => {
  const file = join(testFolder(), 'gatehouse.db');
  const [ours, theirs] = [openSqliteStorage(file), openSqliteStorage(file)];
  onTestFinished(async () => void (await Promise.all([ours.close(), theirs.close()])));
  for (const key of ['a', 'b']) await ours.mcpSessions.open(session(key), wide);
  const mark = await ours.mcpSessions.othersMark();
  await ours.mcpSessions.end('a');
  expect(await ours.mcpSessions.othersMark()).toBe(mark);
  await theirs.mcpSessions.end('b');
  expect(await ours.mcpSessions.othersMark()).not.toBe(mark);
});

describe('MCP sessions of a database that was closed', () => {
  it('are there when it opens again, with streams, events and caps (B3-10)', async () => {
    const file = join(testFolder(), 'gatehouse.db');
    const event = { stream: 's', position: 1, data: '{"id":1}', answers: '1' };
    const first = openSqliteStorage(file);
    await first.mcpSessions.open(session('k', { subscriptions: ['note://1'] }), wide);
    await first.mcpSessions.openStream('k', { stream: 's', owed: ['1', '2'] }, startOfTime);
    await first.mcpSessions.append('k', [event], { maxEvents: 1, maxBytes: 100 }, startOfTime);
    await first.close();

    const again = openSqliteStorage(file);
    onTestFinished(() => again.close());
    const { mcpSessions } = again;
    expect(await mcpSessions.find('k')).toEqual(session('k', { subscriptions: ['note://1'] }));
    expect(await mcpSessions.resume('k', 's', 0)).toEqual({ stream: 's', owed: ['2'], events: [event] });
    const caps = { maxPerPrincipal: 1, maxTotal: 1 };
    expect(await mcpSessions.open(session('l'), caps)).toBe('principal_full');
    expect(await mcpSessions.open(session('l', { principal: 'grace' }), caps)).toBe('full');
    const next = { stream: 's', position: 2, data: '{}' };
    await mcpSessions.append('k', [next], { maxEvents: 1, maxBytes: 100 }, startOfTime);
    expect((await mcpSessions.resume('k', 's', 0))?.events).toEqual([next]);
  });
});

describe('the caps of MCP sessions', () => {
  it('are looked up, not counted: no cap reads the table of sessions (T-144)', () => {
    const db = openDatabase(join(testFolder(), 'gatehouse.db'));
    onTestFinished(() => void db.close());
    const add = db.prepare(
      `INSERT INTO mcp_sessions (key, principal, initialize, protocol_version, is_initialized, subscriptions, created_at, used_at)
       VALUES (?, ?, '{}', '2025-11-25', 0, '[]', 1, 1)`,
    );
    const counts = () => [
      db.prepare('SELECT principal, sessions FROM mcp_session_counts ORDER BY principal').raw().all(),
      db.prepare('SELECT sessions FROM mcp_session_total').pluck().get(),
    ];
    for (const [key, principal] of [
      ['1', 'ada'],
      ['2', 'ada'],
      ['3', 'grace'],
    ])
      add.run(key, principal);
    expect(counts()).toEqual([
      [
        ['ada', 2],
        ['grace', 1],
      ],
      3,
    ]);
    db.exec("DELETE FROM mcp_sessions WHERE key IN ('1', '3')");
    expect(counts()).toEqual([[['ada', 1]], 1]);
    db.exec('DELETE FROM mcp_sessions');
    expect(counts()).toEqual([[], 0]);
  });
});

describe('SQLite', () => describeMcpStreams(openNewDatabase));

describe('rows of an MCP session', () => {
  const roomy = { maxEvents: 10, maxBytes: 1000 };

  /** A database with sessions `a` and `b` that have a stream and two events each. */
  async function openFilled() {
    const db = openDatabase(join(testFolder(), 'gatehouse.db'));
    onTestFinished(() => void db.close());
    const store = createMcpSessionStore(db, createWriter(db));
    for (const key of ['a', 'b']) {
      await store.open(session(key), wide);
      const events = [1, 2].map((position) => ({ stream: 's', position, data: '"four"' }));
      await store.append(key, events, roomy, startOfTime);
    }
    const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
    const counts = () => ['mcp_sessions', 'mcp_streams', 'mcp_events', 'mcp_event_totals'].map(count);
    return { db, store, counts };
  }

  it('are all gone when it ends, and none of another', async () => {
    const { store, counts } = await openFilled();
    expect(counts()).toEqual([2, 2, 4, 2]);
    await store.end('a');
    expect(counts()).toEqual([1, 1, 2, 1]);
    await store.end('b');
    expect(counts()).toEqual([0, 0, 0, 0]);
  });

  it('cannot stand without it: streams need their session, events their stream', async () => {
    const { db, counts } = await openFilled();
    const stream = "INSERT INTO mcp_streams (session_id, name, owed, created_at) VALUES (999, 's', '[]', 1)";
    const event =
      "INSERT INTO mcp_events (stream_id, session_id, position, created_at, data) VALUES (999, 1, 1, 1, '')";
    expect(() => db.exec(stream)).toThrow(/FOREIGN KEY/);
    expect(() => db.exec(event)).toThrow(/FOREIGN KEY/);
    expect(counts()).toEqual([2, 2, 4, 2]);
  });

  it('are counted as they come and go, so that a bound reads no events', async () => {
    const { db, store } = await openFilled();
    const totals = () => db.prepare('SELECT events, bytes FROM mcp_event_totals ORDER BY 1, 2').raw().all();
    expect(totals()).toEqual([
      [2, 12],
      [2, 12],
    ]);
    await store.append('a', [{ stream: 's', position: 3, data: '"ü"' }], roomy, startOfTime);
    await store.closeStream('b', 's');
    expect(totals()).toEqual([
      [0, 0],
      [3, 16],
    ]);
  });

  it('are found by an index, whatever is asked (T-140)', async () => {
    const { db } = await openFilled();
    const plan = (sql: string) =>
      (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail);
    const queries = [
      "SELECT id FROM mcp_sessions WHERE key = 'a'",
      "SELECT key FROM mcp_sessions WHERE principal = 'a' ORDER BY used_at, id",
      "SELECT id FROM mcp_streams WHERE session_id = 1 AND name = 's'",
      'SELECT data FROM mcp_events WHERE stream_id = 1 AND position > 1 ORDER BY position',
      'SELECT min(id) FROM mcp_events WHERE session_id = 1',
      'SELECT id FROM mcp_events WHERE created_at < 5',
      'SELECT id FROM mcp_streams WHERE created_at < 5 AND (created_at, id) > (1, 1) ORDER BY created_at, id',
      'SELECT id FROM mcp_sessions WHERE used_at < 5 AND (used_at, id) > (1, 1) ORDER BY used_at, id',
    ];
    for (const sql of queries) expect(plan(sql)[0], sql).toMatch(/^SEARCH /);
  });
});

describe('SQLite', () => describeMcpSweep(openNewDatabase));

describe('the sweep of MCP sessions', () => {
  it('of five thousand sessions with streams and events never holds the event loop long (T-180)', async () => {
    const db = openDatabase(join(testFolder(), 'gatehouse.db'));
    onTestFinished(() => void db.close());
    db.pragma('synchronous = OFF');
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO mcp_sessions (key, principal, initialize, protocol_version, is_initialized, subscriptions, created_at, used_at)
      SELECT 'k' || i, 'p' || (i % 100), '{}', '2025-11-25', 1, '[]', 1, i % 7 FROM n;
      INSERT INTO mcp_streams (session_id, name, owed, created_at) SELECT id, 's', '[]', 1 FROM mcp_sessions;
      INSERT INTO mcp_events (stream_id, session_id, position, created_at, data)
      SELECT id, session_id, 1, id % 20, hex(randomblob(100)) FROM mcp_streams;`);
    const batches: { cpuMs: number; rows: number }[] = [];
    // Processor time of this thread: the time on the clock is that of whatever else the machine does.
    const cpuMs = () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1000;
    };
    const rows = () => db.prepare('SELECT total_changes()').pluck().get() as number;
    const writer = createWriter(db);
    const timed: Writer = {
      ...writer,
      write: (work) =>
        writer.write(() => {
          const begun = { cpuMs: cpuMs(), rows: rows() };
          const result = work();
          batches.push({ cpuMs: cpuMs() - begun.cpuMs, rows: rows() - begun.rows });
          return result;
        }),
    };
    const ended = await createMcpSweep(db, timed)({ usedBefore: 7, eventsBefore: 10, keep: ['k1', 'k5000'] });
    expect(new Set(ended).size).toBe(4998);
    expect(Math.max(...batches.map((batch) => batch.rows))).toBeLessThanOrEqual(1000);
    expect(Math.max(...batches.map((batch) => batch.cpuMs))).toBeLessThan(patience(50));
    expect(db.prepare('SELECT key FROM mcp_sessions ORDER BY id').pluck().all()).toEqual(['k1', 'k5000']);
    expect(db.prepare('SELECT sessions FROM mcp_session_total').pluck().get()).toBe(2);
  });
});
