import { readdirSync, readFileSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { packageFile } from '../../../package-files.ts';
import { type SchemaUpgrade, StorageFault } from '../../storage.ts';

const folder = packageFile('migrations/sqlite/');

interface Migration {
  version: number;
  file: URL;
}

/** Read once: the migrations do not change while a program runs. */
let listed: readonly Migration[] | undefined;

function listMigrations(): readonly Migration[] {
  listed ??= readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 4)), file: new URL(name, folder) }));
  return listed;
}

/** Returns the schema version of this program. */
function newestVersion(): number {
  return listMigrations().at(-1)?.version ?? 0;
}

/** Returns the schema version of a database. */
export function versionOf(db: Database.Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

/**
 * Requires that a database is not of a newer program.
 * @throws StorageFault
 */
export function requireKnownSchema(db: Database.Database): void {
  const newest = newestVersion();
  if (versionOf(db) > newest)
    throw new StorageFault(
      `The database is of schema ${versionOf(db)}, this program knows schemas up to ${newest}. Use the newer program that wrote it, or restore a backup from before the upgrade.`,
    );
}

/** Returns the schema upgrade that a database needs; undefined if it is new or current. */
export function findUpgrade(db: Database.Database): SchemaUpgrade | undefined {
  const from = versionOf(db);
  const to = newestVersion();
  return from > 0 && from < to ? { from, to } : undefined;
}

/**
 * Brings a database to the schema of this program, one transaction per step: after a crash a step is complete or not
 * begun, and of two processes that start at once one does it and the other finds it done (T-174).
 * @throws StorageFault if the database is of a newer program
 */
export function migrate(db: Database.Database): void {
  requireKnownSchema(db);
  const before = versionOf(db);
  for (const migration of listMigrations().filter(({ version }) => version > before)) {
    const sql = readFileSync(migration.file, 'utf8');
    db.transaction(() => {
      if (versionOf(db) >= migration.version) return;
      db.exec(sql);
      db.pragma(`user_version = ${migration.version}`);
    }).immediate();
  }
}
