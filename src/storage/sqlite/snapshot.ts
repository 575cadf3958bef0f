import { closeSync, constants, copyFileSync, existsSync, openSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';

function withDatabase(file: string, options: Database.Options, work: (db: Database.Database) => void): void {
  const db = new Database(file, options);
  try {
    work(db);
  } finally {
    db.close();
  }
}

/** Whether a database cannot be opened for lack of its index of the log: nobody has it open, and it cannot be made. */
function hasNoIndex(error: unknown, file: string): boolean {
  return (error as { code?: unknown }).code === 'SQLITE_CANTOPEN' && !existsSync(`${file}-shm`);
}

/** Copies the files of a database that nobody has open, and carries the log into the copy. */
function copyClosed(from: string, to: string): void {
  copyFileSync(from, to);
  if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${to}-wal`, constants.COPYFILE_EXCL);
  withDatabase(to, {}, (db) => db.pragma('journal_mode = DELETE'));
}

/**
 * Copies a database as it is at one moment, while a server may be writing to it. `VACUUM INTO` reads one snapshot;
 * SQLite's backup interface would begin again at each write of another process. On a file system that is mounted
 * read-only SQLite opens a database only while somebody else has it open; otherwise its files are copied.
 * @param from path of the database
 * @param to path of the copy, which takes the place of a file that is there; for its owner alone
 * @throws SqliteError, or an error of the system
 * @see https://www.sqlite.org/lang_vacuum.html#vacuuminto (T-173)
 * @see https://www.sqlite.org/wal.html#read_only_databases
 */
export function copyDatabase(from: string, to: string): void {
  for (const suffix of ['', '-wal']) rmSync(`${to}${suffix}`, { force: true });
  closeSync(openSync(to, 'wx', 0o600));
  try {
    withDatabase(from, { readonly: true, timeout: 5_000 }, (db) => db.prepare('VACUUM INTO ?').run(to));
  } catch (error) {
    if (!hasNoIndex(error, from)) throw error;
    copyClosed(from, to);
  }
}
