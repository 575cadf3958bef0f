import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMcpSessionStore } from '../../../src/storage/sqlite/mcp-sessions.ts';
import { openDatabase } from '../../../src/storage/sqlite/open.ts';
import { createWriter } from '../../../src/storage/sqlite/writer.ts';
import { testFolder } from '../../client/support/folder.ts';
import { session, wide } from '../contract/mcp-session.ts';
import { describeMcpStreams } from '../contract/mcp-streams.ts';
import { startOfTime } from '../contract/subject.ts';
import { openNewDatabase } from './subject.ts';

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
