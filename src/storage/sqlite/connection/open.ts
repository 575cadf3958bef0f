import { chmodSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { KeyFileFault } from '../../../crypto/key-file.ts';
import { type SchemaUpgrade, StorageFault } from '../../storage.ts';
import { adviseOnWriting, isDamage, isFullDisk } from './database-errors.ts';
import { DatabaseLocked, isBusy, upgradeExclusively } from './exclusive-lock.ts';
import { findUpgrade, migrate } from './migrate.ts';

/**
 * WAL pages (4 KB each) before a checkpoint. A refresh alone writes several, many of them repeatedly: with four times
 * SQLite's default most pages are checkpointed once.
 */
const logPages = 4_000;

/** An earlier SQLite can corrupt a WAL database that two connections use. */
const oldestSafeSqlite = '3.51.3';

/** better-sqlite3 waits for locks inside the event loop, so it waits briefly; the writer retries. */
const busyTimeoutMs = 40;

/** While a database is being opened nothing else waits for this process: another process may take longer to commit. */
const openingTimeoutMs = 5_000;

function atLeast(version: string, floor: string): boolean {
  const [a, b] = [version, floor].map((text) => text.split('.').map(Number));
  for (const [index, wanted] of (b ?? []).entries()) {
    const have = a?.[index] ?? 0;
    if (have !== wanted) return have > wanted;
  }
  return true;
}

/** Returns the violations of the settings that every connection requires (T-168). */
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

/** Returns whether a file exists and is not empty. */
export function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Returns whether there is a WAL without its database, or with an empty database file.
 * @param file path of the database
 */
export function isLogOrphaned(file: string): boolean {
  return !hasContent(file) && hasContent(`${file}-wal`);
}

/**
 * Requires that no WAL is left of a lost database: a new database in its place would delete it (T-172).
 * @param file path of the database
 * @throws StorageFault if there is such a WAL
 */
export function requireNoOrphanedLog(file: string): void {
  if (isLogOrphaned(file))
    throw new StorageFault(
      'The database is gone, but its log (gatehouse.db-wal) is there. Put the database or a backup back; nothing was changed.',
    );
}

/**
 * Returns the sentence for a data folder that cannot be written.
 * @param code code of the system error, if there is one
 */
export function describeUnwritable(folder: string, code?: string): string {
  const advice = adviseOnWriting(code, 'Give this user write access to it, or choose another with --data.');
  return `The data folder ${folder} cannot be written. ${advice}`;
}

/**
 * Turns the error of opening a database into a fault that says what to do; returns faults as they are.
 * @param file path of the database
 */
export function toStorageFault(error: unknown, file: string): StorageFault | KeyFileFault {
  if (error instanceof StorageFault || error instanceof KeyFileFault) return error;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const advice =
    code === 'EACCES' || code === 'EROFS' || code.startsWith('SQLITE_READONLY') || code === 'SQLITE_CANTOPEN'
      ? describeUnwritable(dirname(file), code)
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
    // Savepoints are needed by this process only; on disk much of them would go through a file.
    db.pragma('temp_store = MEMORY');
    db.pragma(`wal_autocheckpoint = ${logPages}`);
    return db;
  } catch (error) {
    db.close();
    throw isBusy(error) ? new DatabaseLocked(error) : error;
  }
}

/**
 * Opens the database file, checks it, and upgrades it to the schema of this program.
 * @param file path of the database; created with mode 0600 if it is missing
 * @param check further check after the migration; if it throws, the database is closed
 * @param beforeUpgrade called before a database of an earlier version is upgraded
 * @throws StorageFault with a sentence that says what to do; DatabaseLocked if another process holds it exclusively; the
 * KeyFileFault of `check`
 */
export function openDatabase(
  file: string,
  check?: (db: Database.Database) => void,
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void,
): Database.Database {
  let db: Database.Database | undefined;
  try {
    requireNoOrphanedLog(file);
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
      upgradeExclusively(file);
      db = connect(file);
    }
    migrate(db);
    check?.(db);
    db.pragma(`busy_timeout = ${busyTimeoutMs}`);
    return db;
  } catch (error) {
    db?.close();
    throw toStorageFault(error, file);
  }
}
