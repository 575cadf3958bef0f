import type Database from 'better-sqlite3';
import type {
  BackendCredentialChange,
  BackendCredentialKey,
  BackendCredentialStore,
  BackendObject,
  BackendObjectStore,
  DefinitionKind,
  DefinitionPin,
  DefinitionPinStore,
  EnteredCredential,
  ServerDefinition,
} from '../../backends.ts';
import type { ForeignCommits } from '../connection/row-cache.ts';
import type { Writer } from '../connection/writer.ts';

/** Creates the store of backend credentials in a SQLite database. */
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
  // From the sequence, as all rows may have been swept: positions are never reused.
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

/** Creates the store of backend objects in a SQLite database. */
export function createBackendObjectStore(
  db: Database.Database,
  writer: Writer,
  foreignCommits: ForeignCommits,
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
  // A temporary trigger belongs to this connection alone, and also fires for rows removed by a foreign key.
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
    removalMark: async () => foreignCommits() + removals,
    remove: (key) => writer.write(() => void remove.run(key)),
  };
}

interface Row {
  route: string;
  kind: DefinitionKind;
  name: string;
  hash: string;
  definition: string | null;
  pinnedAt: number;
  changedHash: string | null;
  changedDefinition: string | null;
  changedAt: number | null;
}

/** Creates the store of pinned definitions in a SQLite database. */
export function createDefinitionPinStore(db: Database.Database, writer: Writer): DefinitionPinStore {
  const list = db.prepare<{ route: string | null }, Row>(
    `SELECT route, kind, name, hash, definition, pinned_at AS pinnedAt, changed_hash AS changedHash,
       changed_definition AS changedDefinition, changed_at AS changedAt
     FROM definition_pins WHERE @route IS NULL OR route = @route ORDER BY route, kind, name`,
  );
  const add = db.prepare(
    `INSERT INTO definition_pins (route, kind, name, hash, definition, pinned_at)
     VALUES (@route, @kind, @name, @hash, @definition, @at) ON CONFLICT (route, kind, name) DO NOTHING`,
  );
  const one = 'route = @route AND kind = @kind AND name = @name';
  const upgrade = db.prepare(
    `UPDATE definition_pins SET hash = @hash, definition = @definition WHERE ${one} AND hash = @fromHash`,
  );
  const noteChange = db.prepare(
    `UPDATE definition_pins SET changed_hash = @hash, changed_definition = @definition, changed_at = @at
     WHERE ${one} AND hash <> @hash AND changed_hash IS NOT @hash`,
  );
  const accept = db.prepare(
    `UPDATE definition_pins SET hash = changed_hash, definition = changed_definition, pinned_at = @at, changed_hash = NULL,
       changed_definition = NULL, changed_at = NULL
     WHERE ${one} AND changed_hash = @hash`,
  );
  const forget = db.prepare(
    `DELETE FROM definition_pins
     WHERE route = @route AND (@name IS NULL OR name = @name) AND (@kind IS NULL OR kind = @kind)`,
  );
  const values = (route: string, { kind, name, hash, definition }: ServerDefinition) => ({
    ...{ route, kind, name, hash },
    definition: definition ?? null,
  });

  return {
    list: async (route) => list.all({ route: route ?? null }).map(pinOf),
    add: (route, definitions, at) =>
      writer.write(() => {
        for (const definition of definitions) add.run({ ...values(route, definition), at });
      }),
    upgrade: (route, definition, fromHash) =>
      writer.write(() => upgrade.run({ ...values(route, definition), fromHash }).changes === 1),
    noteChange: (route, definition, at) =>
      writer.write(() => noteChange.run({ ...values(route, definition), at }).changes === 1),
    accept: (route, { kind, name, hash }, at) =>
      writer.write(() => accept.run({ route, kind, name, hash, at }).changes === 1),
    forget: (route, { name, kind } = {}) =>
      writer.write(() => forget.run({ route, name: name ?? null, kind: kind ?? null }).changes),
  };
}

function pinOf({ definition, changedHash, changedDefinition, changedAt, ...pin }: Row): DefinitionPin {
  return {
    ...pin,
    ...(definition !== null && { definition }),
    ...(changedHash !== null && {
      changed: {
        hash: changedHash,
        ...(changedDefinition !== null && { definition: changedDefinition }),
        at: changedAt ?? 0,
      },
    }),
  };
}
