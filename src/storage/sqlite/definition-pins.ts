import type Database from 'better-sqlite3';
import type {
  DefinitionKind,
  DefinitionPin,
  DefinitionPinStore,
  ServerDefinition,
} from '../definition-pins.ts';
import type { Writer } from './writer.ts';

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
