import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createKeyFile } from '../../../src/crypto/key-file.ts';
import { testFolder } from '../../client/support/folder.ts';

const migrations = new URL('../../../migrations/sqlite/', import.meta.url);

/** The schema of an earlier version, and that of this one. */
export const schemas = { earlier: 11, newest: readdirSync(migrations).length } as const;

/** A closed database as a version with eleven migrations left it, with an account in it. */
export function earlierDatabase(folder: string = testFolder()): string {
  const file = join(folder, 'gatehouse.db');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  for (const name of readdirSync(migrations).sort().slice(0, schemas.earlier))
    db.exec(readFileSync(new URL(name, migrations), 'utf8'));
  db.exec("INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('ada', 'a@b', 'h', 1)");
  db.pragma(`user_version = ${schemas.earlier}`);
  db.close();
  return file;
}

/** A data folder of that version: the database, and keys. */
export async function earlierDataFolder(): Promise<string> {
  const folder = testFolder();
  await createKeyFile(join(folder, 'gatehouse.keys.json'), 1);
  earlierDatabase(folder);
  return folder;
}
