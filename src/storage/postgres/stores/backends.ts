import type {
  AddedObject,
  BackendCredentialChange,
  BackendCredentialKey,
  BackendCredentialStore,
  BackendObjectStore,
  DefinitionKind,
  DefinitionPin,
  DefinitionPinStore,
  EnteredCredential,
  ServerDefinition,
} from '../../backends.ts';
import type { ChangeMarks } from '../connection/change-marks.ts';
import type { Database, Value } from '../connection/database.ts';
import type { Writer } from '../connection/writer.ts';

const credentialSql = {
  put: `INSERT INTO backend_credentials (account_id, route, name, value, entered_at)
     SELECT id, $2, $3, $4, $5 FROM accounts WHERE id = $1
     ON CONFLICT (account_id, route, name) DO UPDATE SET value = excluded.value, entered_at = excluded.entered_at`,
  find: 'SELECT value FROM backend_credentials WHERE account_id = $1 AND route = $2 AND name = $3',
  listOf: `SELECT account_id AS "accountId", route, name, entered_at AS "enteredAt" FROM backend_credentials
     WHERE account_id = $1 ORDER BY route, name`,
  remove: 'DELETE FROM backend_credentials WHERE account_id = $1 AND route = $2 AND name = $3',
  // From the mark that counts them, as all rows may have been swept: positions are never reused.
  lastChange: `SELECT changes FROM change_marks WHERE name = 'backend_credential_changes'`,
  changesAfter: `SELECT id AS position, account_id AS "accountId", route FROM backend_credential_changes
     WHERE id > $1 ORDER BY id LIMIT $2`,
} as const;

/** Creates the store of backend credentials in a PostgreSQL database. */
export function createBackendCredentialStore(db: Database, writer: Writer): BackendCredentialStore {
  const values = ({ accountId, route, name }: BackendCredentialKey): Value[] => [accountId, route, name];
  return {
    put: (key, value, enteredAt) =>
      writer.write(async (tx) => (await tx.run(credentialSql.put, [...values(key), value, enteredAt])) > 0, {
        inOneFlight: true,
      }),
    find: async (key) => (await db.row<{ value: Buffer }>(credentialSql.find, values(key)))?.value,
    listOf: (accountId) => db.rows<EnteredCredential>(credentialSql.listOf, [accountId]),
    remove: (key) =>
      writer.write(async (tx) => (await tx.run(credentialSql.remove, values(key))) === 1, {
        inOneFlight: true,
      }),
    lastChange: async () => (await db.row<{ changes: number }>(credentialSql.lastChange))?.changes ?? 0,
    changesAfter: (position, limit) =>
      db.rows<BackendCredentialChange>(credentialSql.changesAfter, [position, limit]),
  };
}

const objectSql = {
  add: `WITH asked AS (
       SELECT number, CASE
         WHEN EXISTS (SELECT FROM backend_objects
           WHERE key = $1 AND principal <> $3 AND expires_at > $6) THEN 'taken'
         WHEN (SELECT count(*) FROM backend_objects
           WHERE principal = $3 AND route = $2 AND key <> $1 AND expires_at > $6) >= $8::bigint THEN 'full'
         WHEN $5::text IS NOT NULL AND number IS NULL THEN 'ended'
         ELSE 'added' END AS outcome
       FROM (SELECT (SELECT number FROM grants WHERE id = $5) AS number) AS held
     ), added AS (
       INSERT INTO backend_objects (key, route, principal, client_id, grant_number, created_at, expires_at)
       SELECT $1, $2, $3, $4, number, $6, $7 FROM asked WHERE outcome = 'added'
       ON CONFLICT (key) DO UPDATE SET route = excluded.route, principal = excluded.principal,
         client_id = excluded.client_id, grant_number = excluded.grant_number, created_at = excluded.created_at,
         expires_at = excluded.expires_at
     )
     SELECT outcome FROM asked`,
  filterOwned: `SELECT key FROM backend_objects WHERE key = ANY ($1) AND principal = $2 AND expires_at > $3
     ORDER BY key`,
  filterPresent: 'SELECT key FROM backend_objects WHERE key = ANY ($1) ORDER BY key',
  remove: 'DELETE FROM backend_objects WHERE key = $1',
} as const;

/** Creates the store of backend objects in a PostgreSQL database. */
export function createBackendObjectStore(
  db: Database,
  writer: Writer,
  marks: ChangeMarks,
): BackendObjectStore {
  const keysOf = (rows: readonly { key: string }[]): string[] => rows.map(({ key }) => key);
  return {
    add: ({ key, route, principal, clientId, grantId, createdAt, expiresAt }, maxPerPrincipal) =>
      writer.write(
        async (tx) => {
          const row = await tx.row<{ outcome: AddedObject }>(objectSql.add, [
            ...[key, route, principal, clientId, grantId, createdAt, expiresAt, maxPerPrincipal],
          ]);
          if (!row) throw new Error('a statement returned no row');
          return row.outcome;
        },
        { inOneFlight: true },
      ),
    filterOwned: async (keys, principal, nowSeconds) =>
      keysOf(await db.rows(objectSql.filterOwned, [keys, principal, nowSeconds])),
    filterPresent: async (keys) => keysOf(await db.rows(objectSql.filterPresent, [keys])),
    removalMark: async () => marks.of('backend_objects'),
    remove: (key) => writer.write(async (tx) => tx.send(objectSql.remove, [key]), { inOneFlight: true }),
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

const pinSql = {
  list: `SELECT route, kind, name, hash, definition, pinned_at AS "pinnedAt", changed_hash AS "changedHash",
       changed_definition AS "changedDefinition", changed_at AS "changedAt"
     FROM definition_pins WHERE $1::text IS NULL OR route = $1 ORDER BY route, kind, name`,
  add: `INSERT INTO definition_pins (route, kind, name, hash, definition, pinned_at)
     SELECT $1, kind, name, hash, nullif(definition, ''), $6
     FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS seen (kind, name, hash, definition)
     ON CONFLICT (route, kind, name) DO NOTHING`,
  upgrade: `UPDATE definition_pins SET hash = $4, definition = $5
     WHERE route = $1 AND kind = $2 AND name = $3 AND hash = $6`,
  noteChange: `UPDATE definition_pins SET changed_hash = $4, changed_definition = $5, changed_at = $6
     WHERE route = $1 AND kind = $2 AND name = $3 AND hash <> $4 AND changed_hash IS DISTINCT FROM $4`,
  accept: `UPDATE definition_pins SET hash = changed_hash, definition = changed_definition, pinned_at = $5,
       changed_hash = NULL, changed_definition = NULL, changed_at = NULL
     WHERE route = $1 AND kind = $2 AND name = $3 AND changed_hash = $4`,
  forget: `DELETE FROM definition_pins
     WHERE route = $1 AND ($2::text IS NULL OR name = $2) AND ($3::text IS NULL OR kind = $3)`,
} as const;

/** Creates the store of pinned definitions in a PostgreSQL database. */
export function createDefinitionPinStore(db: Database, writer: Writer): DefinitionPinStore {
  const values = (route: string, { kind, name, hash, definition }: ServerDefinition): Value[] => [
    ...[route, kind, name, hash, definition],
  ];
  /** Runs a statement and returns the number of rows changed. */
  const run = (text: string, parameters: readonly Value[]): Promise<number> =>
    writer.write((tx) => tx.run(text, parameters), { inOneFlight: true });
  return {
    list: async (route) => (await db.rows<Row>(pinSql.list, [route])).map(pinOf),
    async add(route, definitions, at) {
      const column = (name: keyof ServerDefinition): string[] =>
        definitions.map((definition) => definition[name] ?? '');
      await run(pinSql.add, [
        ...[route, column('kind'), column('name'), column('hash'), column('definition'), at],
      ]);
    },
    upgrade: async (route, definition, fromHash) =>
      (await run(pinSql.upgrade, [...values(route, definition), fromHash])) === 1,
    noteChange: async (route, definition, at) =>
      (await run(pinSql.noteChange, [...values(route, definition), at])) === 1,
    accept: async (route, { kind, name, hash }, at) =>
      (await run(pinSql.accept, [route, kind, name, hash, at])) === 1,
    forget: (route, { name, kind } = {}) => run(pinSql.forget, [route, name, kind]),
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
