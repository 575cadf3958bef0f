import type Database from 'better-sqlite3';
import type { BackendObject, BackendObjectStore } from '../backend-objects.ts';
import type { OthersCommits } from './others-commits.ts';
import type { Writer } from './writer.ts';

/** Creates the owners of backends' objects of a SQLite database. */
export function createBackendObjectStore(
  db: Database.Database,
  writer: Writer,
  othersCommits: OthersCommits,
): BackendObjectStore {
  const isTaken = db
    .prepare<[BackendObject], number>(
      'SELECT 1 FROM backend_objects WHERE key = @key AND principal <> @principal AND expires_at > @createdAt',
    )
    .pluck();
  const count = db
    .prepare<[BackendObject], number>(
      `SELECT count(*) FROM backend_objects
       WHERE principal = @principal AND route = @route AND key <> @key AND expires_at > @createdAt`,
    )
    .pluck();
  const grantNumber = db.prepare<[string], number>('SELECT number FROM grants WHERE id = ?').pluck();
  const put = db.prepare(
    `INSERT OR REPLACE INTO backend_objects (key, route, principal, client_id, grant_number, created_at, expires_at)
     VALUES (@key, @route, @principal, @clientId, @grantNumber, @createdAt, @expiresAt)`,
  );
  const owned = db
    .prepare<[string, string, number], string>(
      `SELECT key FROM backend_objects
       WHERE key IN (SELECT value FROM json_each(?)) AND principal = ? AND expires_at > ?`,
    )
    .pluck();
  const present = db
    .prepare<[string], string>(
      'SELECT key FROM backend_objects WHERE key IN (SELECT value FROM json_each(?))',
    )
    .pluck();
  const remove = db.prepare('DELETE FROM backend_objects WHERE key = ?');
  let removals = 0;
  db.function('note_backend_object', () => {
    removals++;
    return null;
  });
  // A temporary trigger belongs to this connection alone, and fires for rows that a foreign key takes along.
  db.exec(
    `CREATE TEMP TRIGGER note_removed_backend_objects AFTER DELETE ON main.backend_objects
     BEGIN SELECT note_backend_object(); END`,
  );

  return {
    add: (object, maxPerPrincipal) =>
      writer.write(() => {
        if (isTaken.get(object)) return 'taken';
        if ((count.get(object) ?? 0) >= maxPerPrincipal) return 'full';
        const number = object.grantId === undefined ? null : grantNumber.get(object.grantId);
        if (number === undefined) return 'ended';
        put.run({ ...object, grantNumber: number });
        return 'added';
      }),
    filterOwned: async (keys, principal, nowSeconds) =>
      owned.all(JSON.stringify(keys), principal, nowSeconds),
    filterPresent: async (keys) => present.all(JSON.stringify(keys)),
    removalMark: async () => othersCommits() + removals,
    remove: (key) => writer.write(() => void remove.run(key)),
  };
}
