import { readdirSync, readFileSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { packageFile } from '../../../package-files.ts';
import { type SchemaUpgrade, StorageFault } from '../../storage.ts';

/** Migrations of the database of an installation. */
const ownFolder = packageFile('migrations/sqlite/');

/** Migrations of the call ledger, which is in a file of its own. */
export const ledgerMigrations = packageFile('migrations/ledger/');

interface Migration {
  version: number;
  file: URL;
}

/** By folder. Read once: the migrations do not change while a program runs. */
const listed = new Map<URL, readonly Migration[]>();

function listMigrations(folder: URL): readonly Migration[] {
  const known = listed.get(folder);
  if (known) return known;
  const migrations = readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 4)), file: new URL(name, folder) }));
  listed.set(folder, migrations);
  return migrations;
}

/** Returns the schema version of this program. */
function newestVersion(folder: URL): number {
  return listMigrations(folder).at(-1)?.version ?? 0;
}

/** Returns the schema version of a database. */
export function versionOf(db: Database.Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

/**
 * Requires that a database is not of a newer program.
 * @throws StorageFault
 */
export function requireKnownSchema(db: Database.Database, folder: URL = ownFolder): void {
  const newest = newestVersion(folder);
  if (versionOf(db) > newest)
    throw new StorageFault(
      `The database is of schema ${versionOf(db)}, this program knows schemas up to ${newest}. Use the newer program that wrote it, or restore a backup from before the upgrade.`,
    );
}

/** Returns the schema upgrade that a database needs; undefined if it is new or current. */
export function findUpgrade(db: Database.Database): SchemaUpgrade | undefined {
  const from = versionOf(db);
  const to = newestVersion(ownFolder);
  return from > 0 && from < to ? { from, to } : undefined;
}

/**
 * Brings a database to the schema of this program, one transaction per step: after a crash a step is complete or not
 * begun, and of two processes that start at once one does it and the other finds it done (T-174).
 * @param folder its migrations; default: those of an installation
 * @throws StorageFault if the database is of a newer program
 */
export function migrate(db: Database.Database, folder: URL = ownFolder): void {
  requireKnownSchema(db, folder);
  const before = versionOf(db);
  for (const migration of listMigrations(folder).filter(({ version }) => version > before)) {
    const sql = readFileSync(migration.file, 'utf8');
    db.transaction(() => {
      if (versionOf(db) >= migration.version) return;
      db.exec(sql);
      db.pragma(`user_version = ${migration.version}`);
    }).immediate();
  }
}
