import type Database from 'better-sqlite3';
import type {
  BackendCredentialChange,
  BackendCredentialKey,
  BackendCredentialStore,
  EnteredCredential,
} from '../backend-credentials.ts';
import type { Writer } from './writer.ts';

/** The credentials for backends of a SQLite database. */
export function createBackendCredentialStore(db: Database.Database, writer: Writer): BackendCredentialStore {
  const put = db.prepare(
    `INSERT INTO backend_credentials (account_id, route, name, value, entered_at)
     SELECT id, @route, @name, @value, @enteredAt FROM accounts WHERE id = @accountId
     ON CONFLICT (account_id, route, name) DO UPDATE SET value = @value, entered_at = @enteredAt`,
  );
  const where = 'account_id = @accountId AND route = @route AND name = @name';
  const find = db
    .prepare<[BackendCredentialKey], Uint8Array>(`SELECT value FROM backend_credentials WHERE ${where}`)
    .pluck();
  const listOf = db.prepare<[string], EnteredCredential>(
    `SELECT account_id AS accountId, route, name, entered_at AS enteredAt FROM backend_credentials
     WHERE account_id = ? ORDER BY route, name`,
  );
  const remove = db.prepare<[BackendCredentialKey]>(`DELETE FROM backend_credentials WHERE ${where}`);
  // Also where all were swept: positions are never given again.
  const lastChange = db
    .prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'backend_credential_changes'")
    .pluck();
  const changesAfter = db.prepare<[number, number], BackendCredentialChange>(
    `SELECT id AS position, account_id AS accountId, route FROM backend_credential_changes
     WHERE id > ? ORDER BY id LIMIT ?`,
  );

  return {
    put: (key, value, enteredAt) => writer.write(() => put.run({ ...key, value, enteredAt }).changes > 0),
    find: async (key) => find.get(key),
    listOf: async (accountId) => listOf.all(accountId),
    remove: (key) => writer.write(() => remove.run(key).changes === 1),
    lastChange: async () => lastChange.get() ?? 0,
    changesAfter: async (position, limit) => changesAfter.all(position, limit),
  };
}
