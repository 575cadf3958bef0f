import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { removeIssued } from '../../src/storage/copied-tables.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';

/** Tables of what stays. */
const kept = [
  ...['accounts', 'identities', 'passkeys', 'one_time_codes', 'recovery_codes', 'notes'],
  ...['clients', 'client_documents', 'definition_pins', 'backend_credentials', 'backend_credential_changes'],
  ...['audit', 'audit_ends', 'installation', 'nodes', 'node_messages', 'node_message_ends', 'call_exports'],
];

/** Tables whose rows go with the session that they belong to. */
const ofSessions = [
  'mcp_streams',
  'mcp_events',
  'mcp_event_totals',
  'mcp_session_counts',
  'mcp_session_total',
];

describe('the removal of all that was issued', () => {
  it('is decided for each table of the schema: a new one with tokens cannot be forgotten (T-173)', async () => {
    const file = `${testFolder()}/gatehouse.db`;
    await openSqliteStorage(file).close();
    const db = new Database(file);
    onTestFinished(() => void db.close());
    const tables = db
      .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .pluck()
      .all();
    for (const statement of removeIssued) expect(() => db.exec(statement)).not.toThrow();
    const changed = removeIssued.map((statement) => /^(?:DELETE FROM|UPDATE) (\w+)/.exec(statement)?.[1]);
    const left = tables.filter((name) => !changed.includes(name) && name !== 'sqlite_sequence');
    expect(left.sort()).toEqual([...kept, ...ofSessions].sort());
  });
});
