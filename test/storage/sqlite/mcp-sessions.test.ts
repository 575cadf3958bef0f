import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteStorage } from '../../../src/storage/sqlite/index.ts';
import { openDatabase } from '../../../src/storage/sqlite/open.ts';
import { testFolder } from '../../client/support/folder.ts';
import { session, wide } from '../contract/mcp-session.ts';
import { describeMcpSessions } from '../contract/mcp-sessions.ts';
import { startOfTime } from '../contract/subject.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeMcpSessions(openNewDatabase));

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
