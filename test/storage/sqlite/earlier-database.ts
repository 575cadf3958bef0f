import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createKeyFile } from '../../../src/crypto/key-file.ts';
import { testFolder } from '../../client/support/folder.ts';

const migrations = new URL('../../../migrations/sqlite/', import.meta.url);

/** The schema of an earlier version, and that of this one. */
export const schemas = {
  earlier: 11,
  newest: Number(readdirSync(migrations).sort().at(-1)?.slice(0, 4)),
} as const;

/**
 * A closed database as an earlier version left it.
 * @param version how many migrations it had
 * @param rows what is in it, as SQL
 */
export function databaseOf(version: number, rows: string, folder: string = testFolder()): string {
  const file = join(folder, 'gatehouse.db');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('foreign_keys = ON');
  for (const name of readdirSync(migrations).sort().slice(0, version))
    db.exec(readFileSync(new URL(name, migrations), 'utf8'));
  db.exec(rows);
  db.pragma(`user_version = ${version}`);
  db.close();
  return file;
}

/** A closed database of {@link schemas.earlier}, with an account in it. */
export function earlierDatabase(folder?: string): string {
  const account = "INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('ada', 'a@b', 'h', 1)";
  return databaseOf(schemas.earlier, account, folder);
}

/** A data folder of that version: the database, and keys. */
export async function earlierDataFolder(): Promise<string> {
  const folder = testFolder();
  await createKeyFile(join(folder, 'gatehouse.keys.json'), 1);
  earlierDatabase(folder);
  return folder;
}
