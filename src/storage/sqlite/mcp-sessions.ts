import type Database from 'better-sqlite3';
import type { McpSessionStore, SessionChange, SessionSummary, StoredSession } from '../mcp-sessions.ts';
import { createMcpStreamStore } from './mcp-streams.ts';
import { createMcpSweep } from './mcp-sweep.ts';
import type { Writer } from './writer.ts';

/** Sessions noted as used in one commit: few enough that others hardly notice. */
const touchedAtOnce = 250;

interface Row extends Omit<StoredSession, 'isInitialized' | 'subscriptions'> {
  isInitialized: number;
  subscriptions: string;
}

function toSession(row: Row): StoredSession {
  return {
    ...row,
    isInitialized: row.isInitialized === 1,
    subscriptions: JSON.parse(row.subscriptions) as string[],
  };
}

function toRow(session: StoredSession): Row {
  return {
    ...session,
    isInitialized: session.isInitialized ? 1 : 0,
    subscriptions: JSON.stringify(session.subscriptions),
  };
}

/** The MCP sessions of a SQLite database. */
export function createMcpSessionStore(db: Database.Database, writer: Writer): McpSessionStore {
  const sessionsOf = db
    .prepare<[string], number>('SELECT sessions FROM mcp_session_counts WHERE principal = ?')
    .pluck();
  const total = db.prepare<[], number>('SELECT sessions FROM mcp_session_total').pluck();
  const open = db.prepare<[Row]>(
    `INSERT INTO mcp_sessions (key, principal, initialize, protocol_version, is_initialized, log_level,
       subscriptions, created_at, used_at, grant_hash)
     VALUES (@key, @principal, @initialize, @protocolVersion, @isInitialized, @logLevel,
       @subscriptions, @createdAt, @usedAt, @grantHash)`,
  );
  const columns = `key, principal, initialize, protocol_version AS protocolVersion, is_initialized AS isInitialized,
    log_level AS logLevel, subscriptions, created_at AS createdAt, used_at AS usedAt,
    grant_hash AS grantHash`;
  const find = db.prepare<[string], Row>(`SELECT ${columns} FROM mcp_sessions WHERE key = ?`);
  // The quotation mark at the end of a prefix is followed by the number sign.
  const listBelow = db.prepare<[string, string], Row>(
    `SELECT ${columns} FROM mcp_sessions WHERE principal >= ? AND principal < ? ORDER BY used_at DESC, id DESC`,
  );
  const listOf = db
    .prepare<[string], string>('SELECT key FROM mcp_sessions WHERE principal = ? ORDER BY used_at, id')
    .pluck();
  const list = db.prepare<[], SessionSummary>(
    `SELECT key, principal, protocol_version AS protocolVersion, created_at AS createdAt, used_at AS usedAt
     FROM mcp_sessions ORDER BY used_at DESC, id DESC`,
  );
  const filterPresent = db
    .prepare<[string], string>('SELECT key FROM mcp_sessions WHERE key IN (SELECT value FROM json_each(?))')
    .pluck();
  const othersCommits = db.prepare<[], number>('PRAGMA data_version').pluck();
  const change = db.prepare<[Row]>(
    `UPDATE mcp_sessions SET is_initialized = @isInitialized, log_level = @logLevel,
       subscriptions = @subscriptions, used_at = @usedAt, grant_hash = @grantHash
     WHERE key = @key`,
  );
  const touch = db.prepare(
    'UPDATE mcp_sessions SET used_at = @usedAt WHERE key = @key AND used_at < @usedAt',
  );
  const end = db.prepare('DELETE FROM mcp_sessions WHERE key = ?');

  return {
    open: (session, caps) =>
      writer.write(() => {
        if ((sessionsOf.get(session.principal) ?? 0) >= caps.maxPerPrincipal) return 'principal_full';
        if ((total.get() ?? 0) >= caps.maxTotal) return 'full';
        open.run(toRow(session));
        return 'opened';
      }),
    async find(key) {
      const row = find.get(key);
      return row && toSession(row);
    },
    listOf: async (principal) => listOf.all(principal),
    list: async () => list.all(),
    filterPresent: async (keys) => filterPresent.all(JSON.stringify(keys)),
    othersMark: async () => String(othersCommits.get()),
    listBelow: async (prefix) => listBelow.all(prefix, `${prefix.slice(0, -1)}#`).map(toSession),
    change: (key, changes: SessionChange) =>
      writer.write(() => {
        const row = find.get(key);
        if (row) change.run(toRow({ ...toSession(row), ...changes }));
      }),
    async touch(keys, usedAt) {
      for (let from = 0; from < keys.length; from += touchedAtOnce) {
        const some = keys.slice(from, from + touchedAtOnce);
        await writer.write(() => {
          for (const key of some) touch.run({ key, usedAt });
        });
      }
    },
    end: (key) => writer.write(() => end.run(key).changes === 1),
    ...createMcpStreamStore(db, writer),
    sweep: createMcpSweep(db, writer),
  };
}
