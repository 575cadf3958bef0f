import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMcpSweep } from '../../../src/storage/sqlite/mcp-sweep.ts';
import { openDatabase } from '../../../src/storage/sqlite/open.ts';
import { createWriter, type Writer } from '../../../src/storage/sqlite/writer.ts';
import { testFolder } from '../../client/support/folder.ts';
import { patience } from '../../support/patience.ts';
import { describeMcpSweep } from '../contract/mcp-sweep.ts';
import { openNewDatabase } from './subject.ts';

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
