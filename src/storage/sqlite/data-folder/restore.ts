import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { readKeyFile } from '../../../crypto/key-file.ts';
import { keysAt } from '../../../crypto/key-schedule.ts';
import { randomSecret } from '../../../crypto/secret.ts';
import { type SchemaUpgrade, StorageFault } from '../../storage.ts';
import { isDamage, isFullDisk } from '../connection/database-errors.ts';
import { isBusy } from '../connection/exclusive-lock.ts';
import { isLogOrphaned, openDatabase, toStorageFault } from '../connection/open.ts';
import { readBackupTime } from './back-up.ts';
import { dataFiles, ensureFolder } from './data-folder.ts';
import { checkInstallation } from './installation.ts';
import { type RestoredRevocations, restoreRevocations, revokeAll } from './restore-revocations.ts';

/** Options of {@link restoreDataFolder}. */
export interface RestoreOptions {
  /** Path of the backup folder. */
  backup: string;
  /** Path of the data folder. */
  data: string;
  /** Moves an existing database aside. */
  replace: boolean;
  /** Keeps consents, tokens and logins: safe only if nothing happened since the backup. */
  keepLogins: boolean;
  /** Called before a backup of an earlier version is upgraded. */
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void;
  /** Suffix for the names of files that are moved aside: the time. */
  stamp: string;
}

/** The result of a restore. */
export interface Restored {
  /** Path to which the replaced database was moved; undefined if there was none. */
  putAside?: string;
  /** Time of the backup, or if unknown, of its last audit event; epoch seconds. Undefined if it has no event either. */
  asOf?: number;
  /** Refusals taken over from the replaced database; undefined if there was none. */
  restoredRevocations?: RestoredRevocations | 'unreadable';
}

/** Copies a file of the backup to a draft beside its destination. */
function draftOf(from: string, to: string): string {
  const draft = `${to}.${randomSecret(6)}`;
  try {
    copyFileSync(from, draft);
    chmodSync(draft, 0o600);
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw isFullDisk(error) ? toStorageFault(error, to) : error;
  }
}

/**
 * Renames a database with its `-wal` and `-shm`.
 * @returns the new path, or that of the WAL if there is only a WAL
 */
function putAside(file: string, stamp: string): string {
  const aside = `${file}.before-${stamp}`;
  const there = ['', '-wal', '-shm'].filter((suffix) => existsSync(`${file}${suffix}`));
  for (const suffix of there) renameSync(`${file}${suffix}`, `${aside}${suffix}`);
  return `${aside}${there[0] ?? ''}`;
}

/** A recorded time older than the last event belongs to another backup, whose database was replaced. */
function describeAge(db: Database.Database, backup: string): Pick<Restored, 'asOf'> {
  const lastEventAt = db.prepare<[], number | null>('SELECT max(at) FROM audit').pluck().get();
  const times = [readBackupTime(backup), lastEventAt].filter((time) => typeof time === 'number');
  return times.length > 0 ? { asOf: Math.max(...times) } : {};
}

/** Removes empty folders, the innermost first, up to the first one with content. */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders) {
    if (readdirSync(folder).length > 0) return;
    rmdirSync(folder);
  }
}

/**
 * Restores a backup into an existing data folder.
 * @throws StorageFault, KeyFileFault
 */
function putBack(options: RestoreOptions): Restored {
  const { backup, data, replace, keepLogins, beforeUpgrade, stamp } = options;
  const place = { database: join(data, dataFiles.database), keys: join(data, dataFiles.keys) };
  // SQLite would replay a leftover WAL into the database that takes its place, and deletes it beside an empty file.
  const isLost = isLogOrphaned(place.database);
  const isThere = isLost || existsSync(place.database);
  if (isThere && !replace)
    throw new StorageFault(
      `There is ${isLost ? 'the log of a database' : 'a database'} in the data folder. Name an empty folder, or put it aside with --replace.`,
    );
  if (isThere && !isLost) requireNotInUse(place.database);
  const brought = join(backup, dataFiles.keys);
  const bringsKeys = existsSync(brought);
  const keys = keysAt(readKeyFile(bringsKeys ? brought : place.keys), Math.floor(Date.now() / 1000));
  const restored: Restored = {};
  const draft = draftOf(join(backup, dataFiles.database), place.database);
  try {
    const db = openDatabase(draft, (opened) => checkInstallation(opened, keys), beforeUpgrade);
    try {
      if (!keepLogins) revokeAll(db);
      // A backup of an installation that has moved is an installation of its own from now on.
      db.exec('UPDATE installation SET moved_to = NULL');
      Object.assign(restored, describeAge(db, backup));
      if (isThere)
        restored.restoredRevocations =
          (isLost ? undefined : restoreRevocations(db, place.database)) ?? 'unreadable';
      db.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      db.close();
    }
    const draftKeys = bringsKeys ? draftOf(brought, place.keys) : undefined;
    const aside = isThere ? putAside(place.database, stamp) : undefined;
    if (draftKeys !== undefined) {
      if (existsSync(place.keys)) putAside(place.keys, stamp);
      renameSync(draftKeys, place.keys);
    }
    renameSync(draft, place.database);
    return aside === undefined ? restored : { putAside: aside, ...restored };
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${draft}${suffix}`, { force: true });
  }
}

/**
 * Restores a backup into a data folder. The copy is checked, upgraded and stripped of everything issued before it takes
 * its place. The replaced database is moved aside, not deleted, and its refusals are taken over. If the backup has no
 * key file, that of the data folder is used.
 * @throws StorageFault, KeyFileFault with a sentence that says what to do; nothing was changed
 */
export async function restoreDataFolder(options: RestoreOptions): Promise<Restored> {
  const { backup, data } = options;
  if (!existsSync(join(backup, dataFiles.database)))
    throw new StorageFault(
      `There is no backup in ${backup}: it has no ${dataFiles.database}. Name the folder that gatehouse backup wrote. Nothing was changed.`,
    );
  const made = ensureFolder(data);
  try {
    return putBack(options);
  } catch (error) {
    removeEmpty(made);
    throw error;
  }
}

/**
 * Locks a database exclusively for a moment.
 * @returns false if the file is damaged, in use or not
 * @throws SqliteError (busy) if another process has it open
 */
function lockExclusively(file: string): boolean {
  const db = new Database(file, { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE; COMMIT;');
    return true;
  } catch (cause) {
    if (isDamage(cause)) return false;
    throw cause;
  } finally {
    db.close();
  }
}

/**
 * Locks a damaged database exclusively for a moment. SQLite locks a file before it reads anything if a rollback journal
 * lies beside it, and the lock holds for the file under every name. So the file is opened by a second name, with a
 * journal that has nothing to roll back: the file stays as it is.
 * @throws SqliteError (busy) if another process has it open; a system error if no second name can be created
 * @see https://www.sqlite.org/lockingv3.html#hot_journals
 */
function lockDamagedExclusively(file: string): void {
  const name = `${file}.${randomSecret(6)}`;
  try {
    linkSync(file, name);
    writeFileSync(`${name}-journal`, '-', { mode: 0o600 });
    lockExclusively(name);
  } finally {
    for (const suffix of ['-journal', '-wal', '-shm', '']) rmSync(`${name}${suffix}`, { force: true });
  }
}

/**
 * Requires that no other process has a database open, even a damaged one.
 * @param file path of the database
 * @throws StorageFault if it is in use, or if that cannot be determined
 */
export function requireNotInUse(file: string): void {
  let isSound: boolean | undefined;
  try {
    isSound = lockExclusively(file);
    if (!isSound) lockDamagedExclusively(file);
  } catch (cause) {
    if (isBusy(cause))
      throw new StorageFault('The database is in use. Stop the server first; nothing was changed.', {
        cause,
      });
    if (isSound === undefined) throw toStorageFault(cause, file);
    throw new StorageFault(
      `The database is damaged, and it cannot be found out whether a server has it open (${(cause as NodeJS.ErrnoException).code ?? 'unknown cause'}). Stop every server, move the files of the data folder elsewhere, and restore without --replace; nothing was changed.`,
      { cause },
    );
  }
}
