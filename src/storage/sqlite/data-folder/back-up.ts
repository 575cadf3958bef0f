import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { KeyFileFault, readKeyFile } from '../../../crypto/key-file.ts';
import { keysAt } from '../../../crypto/key-schedule.ts';
import { randomSecret } from '../../../crypto/secret.ts';
import { StorageFault } from '../../storage.ts';
import { isFullDisk } from '../connection/database-errors.ts';
import { dataFiles } from './data-folder.ts';
import { requireFittingKeys } from './installation.ts';

/** A finished backup. */
export interface Backup {
  /** Absolute path of the backup folder. */
  folder: string;
  /** Size of the database, in bytes. */
  bytes: number;
  withKeys: boolean;
}

/** Flushes a written file or folder to the disk. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** @throws KeyFileFault if the copied keys are damaged or do not open the copied database */
function checkKeys(copy: Database.Database, keyFile: string): void {
  try {
    requireFittingKeys(copy, keysAt(readKeyFile(keyFile), Math.floor(Date.now() / 1000)));
  } catch (error) {
    if (!(error instanceof KeyFileFault)) throw error;
    throw new KeyFileFault(
      `${error.message} No backup was written; --no-keys backs up the database without its keys.`,
      { cause: error },
    );
  }
}

/**
 * @param keyFile copy of the keys; undefined if they are left out
 * @throws StorageFault if the copy is damaged: the disk or the original is faulty
 * @throws KeyFileFault if the keys do not open it
 */
function checkCopy(file: string, keyFile: string | undefined): void {
  const copy = new Database(file, { readonly: true });
  try {
    if (copy.pragma('integrity_check(1)', { simple: true }) !== 'ok')
      throw new StorageFault('The copy is damaged, so there is no backup. Check the disk and the database.');
    if (keyFile !== undefined) checkKeys(copy, keyFile);
  } finally {
    copy.close();
  }
}

/** Number of attempts if the keys change during the copy. */
const maxAttempts = 3;

/**
 * Copies a database with the keys that open all of it: the keys must be the same before and after the copy.
 * @returns time of the copy, epoch seconds
 */
function copyTogether(data: string, draft: string, withKeys: boolean): number {
  const copy = join(draft, dataFiles.database);
  const keyFile = withKeys ? join(draft, dataFiles.keys) : undefined;
  const readKeys = (): string => readFileSync(join(data, dataFiles.keys), 'utf8');
  for (let attempt = 1; ; attempt++) {
    const keys = readKeys();
    const takenAt = Math.floor(Date.now() / 1000);
    copyDatabase(join(data, dataFiles.database), copy);
    if (readKeys() === keys) {
      if (keyFile !== undefined) writeFileSync(keyFile, keys, { mode: 0o600, flag: 'wx', flush: true });
      checkCopy(copy, keyFile);
      flush(copy);
      return takenAt;
    }
    if (attempt === maxAttempts)
      throw new StorageFault('The keys keep changing. Try again in a moment; there is no backup.');
  }
}

/**
 * Copies the database as of one moment, while a server may be writing to it, and the key file. The folder appears whole
 * and durable, or not at all.
 * @param target folder of the backup; must not exist
 * @param withKeys includes the key file; a backup without it cannot be used alone
 * @throws StorageFault, KeyFileFault with a sentence that says what to do (T-173)
 */
export function backUpDataFolder(data: string, target: string, withKeys: boolean): Backup {
  const folder = resolve(target);
  if (existsSync(folder))
    throw new StorageFault('There is something at that path already. Name a folder that does not exist yet.');
  const draft = join(dirname(folder), `.${basename(folder)}.${randomSecret(6)}`);
  try {
    mkdirSync(draft, { mode: 0o700 });
  } catch (cause) {
    throw new StorageFault('The backup cannot be written there: the folder above is missing or closed.', {
      cause,
    });
  }
  try {
    writeBackupTime(draft, copyTogether(data, draft, withKeys));
    flush(draft);
    renameSync(draft, folder);
    flush(dirname(folder));
    return { folder, bytes: statSync(join(folder, dataFiles.database)).size, withKeys };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (error instanceof StorageFault || error instanceof KeyFileFault) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown cause';
    const advice = isFullDisk(error) ? 'The disk is full.' : `The database cannot be copied (${code}).`;
    throw new StorageFault(`${advice} There is no backup.`, { cause: error });
  }
}

/** File with the time of a backup, stored in its folder. */
const fileName = 'backup.json';

/**
 * Stores the time of a backup: the times of files are lost when they are copied or unpacked.
 * @param takenAt epoch seconds
 */
export function writeBackupTime(backup: string, takenAt: number): void {
  const text = `${JSON.stringify({ takenAt: new Date(takenAt * 1000).toISOString() })}\n`;
  writeFileSync(join(backup, fileName), text, { mode: 0o600, flag: 'wx', flush: true });
}

/**
 * Reads the time of a backup.
 * @returns epoch seconds; undefined if there is none, as in a backup by an earlier version
 */
export function readBackupTime(backup: string): number | undefined {
  try {
    const { takenAt } = JSON.parse(readFileSync(join(backup, fileName), 'utf8')) as { takenAt?: unknown };
    const time = typeof takenAt === 'string' ? Date.parse(takenAt) : Number.NaN;
    return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
  } catch {
    return undefined;
  }
}

function withDatabase(file: string, options: Database.Options, work: (db: Database.Database) => void): void {
  const db = new Database(file, options);
  try {
    work(db);
  } finally {
    db.close();
  }
}

/** Returns whether a database could not be opened because its WAL index (`-shm`) is missing and cannot be created. */
function hasNoIndex(error: unknown, file: string): boolean {
  return (error as { code?: unknown }).code === 'SQLITE_CANTOPEN' && !existsSync(`${file}-shm`);
}

/** Copies the files of a database that no process has open, and merges the WAL into the copy. */
function copyClosed(from: string, to: string): void {
  copyFileSync(from, to);
  if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${to}-wal`, constants.COPYFILE_EXCL);
  withDatabase(to, {}, (db) => db.pragma('journal_mode = DELETE'));
}

/**
 * Copies a database as of one moment, while a server may be writing to it. `VACUUM INTO` reads one snapshot; SQLite's
 * backup interface restarts at each write of another process. On a read-only file system SQLite opens a database only
 * while another process has it open; otherwise its files are copied.
 * @param from path of the database
 * @param to path of the copy, readable by its owner only; an existing file is replaced
 * @throws SqliteError, or a system error
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
