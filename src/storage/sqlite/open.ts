import { chmodSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { KeyFileFault } from '../../crypto/key-file.ts';
import { type SchemaUpgrade, StorageFault } from '../storage.ts';
import { isDamage, isFullDisk } from './causes.ts';
import { DatabaseHeld, isBusy } from './held-alone.ts';
import { findUpgrade, migrate } from './migrate.ts';
import { upgradeAlone } from './upgrade-alone.ts';
import { adviseOnWriting } from './writing-advice.ts';

/**
 * Pages of 4 KB the log holds before they are carried into the database. A refresh alone writes several, many of them again and
 * again: four times SQLite's own number has most of them carried over once.
 */
const logPages = 4_000;

/** SQLite before this version can corrupt a WAL database that two connections use (F5). */
const oldestSafeSqlite = '3.51.3';

/** better-sqlite3 waits for locks inside the event loop, so it waits briefly; the writer has the patience. */
const busyTimeoutMs = 40;

/** While a database is being opened nobody else waits for this process: a commit of another one may take its time. */
const openingTimeoutMs = 5_000;

function atLeast(version: string, floor: string): boolean {
  const [a, b] = [version, floor].map((text) => text.split('.').map(Number));
  for (const [index, wanted] of (b ?? []).entries()) {
    const have = a?.[index] ?? 0;
    if (have !== wanted) return have > wanted;
  }
  return true;
}

/** What must be in force on every connection, as a list (F4, F5, T-168). */
function checkSettings(db: Database.Database): string[] {
  const setting = (name: string): unknown => db.pragma(name, { simple: true });
  const sqlite = db.prepare('SELECT sqlite_version()').pluck().get() as string;
  const rules: [boolean, string][] = [
    [atLeast(sqlite, oldestSafeSqlite), `SQLite ${sqlite} is older than ${oldestSafeSqlite}`],
    [setting('journal_mode') === 'wal', 'journal_mode is not WAL'],
    [setting('synchronous') === 2, 'synchronous is not FULL'],
    [setting('foreign_keys') === 1, 'foreign_keys is off'],
    [Number(setting('busy_timeout')) > 0, 'busy_timeout is 0'],
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => fault);
}

/** Tells whether there is something in a file: it may be empty, or not be there. @param file its path */
export function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Tells whether a log is there without its database, or beside an empty file in its place. @param file path of the database */
export function isLogAlone(file: string): boolean {
  return !hasContent(file) && hasContent(`${file}-wal`);
}

/**
 * A log without its database belongs to one that was lost; a new one in its place would delete it as well (T-172).
 * @param file path of the database
 * @throws StorageFault where there is such a log
 */
export function checkNotLost(file: string): void {
  if (isLogAlone(file))
    throw new StorageFault(
      'The database is gone, but its log (gatehouse.db-wal) is there. Put the database or a backup back; nothing was changed.',
    );
}

/** Says that nothing can be written to a data folder, and what to do. @param code of the system's error, where it gave one */
export function notWritable(folder: string, code?: string): string {
  const advice = adviseOnWriting(code, 'Give this user write access to it, or choose another with --data.');
  return `The data folder ${folder} cannot be written. ${advice}`;
}

/** Says why a database cannot be opened, and what to do; what says so itself stays. @param file path of the database */
export function explain(error: unknown, file: string): StorageFault | KeyFileFault {
  if (error instanceof StorageFault || error instanceof KeyFileFault) return error;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const advice =
    code === 'EACCES' || code === 'EROFS' || code.startsWith('SQLITE_READONLY') || code === 'SQLITE_CANTOPEN'
      ? notWritable(dirname(file), code)
      : isDamage(error)
        ? 'The database is damaged. Put a backup in its place; nothing was changed.'
        : code.startsWith('SQLITE_BUSY')
          ? 'Another process holds the database. Wait for it, or end it.'
          : isFullDisk(error)
            ? `The disk is full (${code}). Free some space and start again; the database needs no backup in its place.`
            : `The database cannot be opened (${code || 'unknown cause'}).`;
  return new StorageFault(advice, { cause: error });
}

function connect(file: string): Database.Database {
  const db = new Database(file, { timeout: openingTimeoutMs });
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    // What a savepoint would restore is needed by this process alone: otherwise much of it goes through a file.
    db.pragma('temp_store = MEMORY');
    db.pragma(`wal_autocheckpoint = ${logPages}`);
    return db;
  } catch (error) {
    db.close();
    throw isBusy(error) ? new DatabaseHeld(error) : error;
  }
}

/**
 * Opens the database file, checks it, and brings it to the schema of this program.
 * @param file path of the database; created with mode 0600 where it is missing
 * @param check what else has to hold once it is migrated; where it throws, the database is closed
 * @param beforeUpgrade is told that a database of an earlier version is about to be brought up
 * @throws StorageFault with a sentence that says what to do, DatabaseHeld where another process has it for itself, or the
 * KeyFileFault of `check`
 */
export function openDatabase(
  file: string,
  check?: (db: Database.Database) => void,
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void,
): Database.Database {
  let db: Database.Database | undefined;
  try {
    checkNotLost(file);
    if (!existsSync(file)) closeSync(openSync(file, constants.O_CREAT | constants.O_RDWR, 0o600));
    chmodSync(file, 0o600);
    db = connect(file);
    const damage = db.pragma('quick_check(1)', { simple: true });
    if (damage !== 'ok')
      throw new StorageFault('The database is damaged. Put a backup in its place; nothing was changed.');
    const faults = checkSettings(db);
    if (faults.length > 0) throw new StorageFault(`The database is not safe to use: ${faults.join('; ')}.`);
    const upgrade = findUpgrade(db);
    if (upgrade) {
      db.close();
      beforeUpgrade?.(upgrade);
      upgradeAlone(file);
      db = connect(file);
    }
    migrate(db);
    check?.(db);
    db.pragma(`busy_timeout = ${busyTimeoutMs}`);
    return db;
  } catch (error) {
    db?.close();
    throw explain(error, file);
  }
}
