import { chmodSync, copyFileSync, existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { readKeyFile } from '../../crypto/key-file.ts';
import { keysAt } from '../../crypto/key-schedule.ts';
import { randomSecret } from '../../crypto/secret.ts';
import { type SchemaUpgrade, StorageFault } from '../storage.ts';
import { readBackupTime } from './backup-time.ts';
import type { CarriedOver } from './carried-over.ts';
import { carryOver } from './carry-over.ts';
import { isFullDisk } from './causes.ts';
import { dataFiles, provideFolder } from './data-folder.ts';
import { requireNotInUse } from './in-use.ts';
import { checkInstallation } from './installation.ts';
import { explain, isLogAlone, openDatabase } from './open.ts';
import { revokeAll } from './revoke-all.ts';

/** How a backup is put back. */
export interface RestoreOptions {
  /** Folder of the backup. */
  backup: string;
  /** Data folder it becomes. */
  data: string;
  /** Puts aside a database that is there. */
  replace: boolean;
  /** Keeps consents, tokens and logins: only where nothing happened since the backup. */
  keepLogins: boolean;
  /** Is told that the backup is of an earlier version and is about to be brought to the schema of this one. */
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void;
  /** Marks what is put aside: the time, as text fit for a file name. */
  stamp: string;
}

/** What became of it. */
export interface Restored {
  /** Where the database that was there is now; undefined where there was none. */
  putAside?: string;
  /**
   * How old the backup is: when it was made, or, where it does not tell, when the last event in it happened; epoch seconds.
   * Undefined where it has none either.
   */
  asOf?: number;
  /** What of the database that was there holds on; undefined where there was none. */
  carriedOver?: CarriedOver | 'unreadable';
}

/** Copies a file of the backup to a draft beside its place. */
function draftOf(from: string, to: string): string {
  const draft = `${to}.${randomSecret(6)}`;
  try {
    copyFileSync(from, draft);
    chmodSync(draft, 0o600);
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw isFullDisk(error) ? explain(error, to) : error;
  }
}

/** Renames a file out of the way, with what SQLite keeps beside it. @returns where it is, or its log where that is alone */
function putAside(file: string, stamp: string): string {
  const aside = `${file}.before-${stamp}`;
  const there = ['', '-wal', '-shm'].filter((suffix) => existsSync(`${file}${suffix}`));
  for (const suffix of there) renameSync(`${file}${suffix}`, `${aside}${suffix}`);
  return `${aside}${there[0] ?? ''}`;
}

/** A note that is older than the last event is of another backup, whose database was replaced. */
function describeAge(db: Database.Database, backup: string): Pick<Restored, 'asOf'> {
  const lastEventAt = db.prepare<[], number | null>('SELECT max(at) FROM audit').pluck().get();
  const times = [readBackupTime(backup), lastEventAt].filter((time) => typeof time === 'number');
  return times.length > 0 ? { asOf: Math.max(...times) } : {};
}

/** Removes folders, the innermost first, up to one in which something stands. */
function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders) {
    if (readdirSync(folder).length > 0) return;
    rmdirSync(folder);
  }
}

/** Puts a backup in the place of a data folder that is there. @throws StorageFault, KeyFileFault */
function putBack(options: RestoreOptions): Restored {
  const { backup, data, replace, keepLogins, beforeUpgrade, stamp } = options;
  const place = { database: join(data, dataFiles.database), keys: join(data, dataFiles.keys) };
  // SQLite would write a log that is left there into the database that takes its place, and deletes it beside an empty one.
  const isLost = isLogAlone(place.database);
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
      Object.assign(restored, describeAge(db, backup));
      if (isThere)
        restored.carriedOver = (isLost ? undefined : carryOver(db, place.database)) ?? 'unreadable';
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
 * Puts a backup in the place of a data folder. The copy is checked, brought to the schema of this program, and freed
 * from everything that was issued before it takes the place; what was there is put aside, not deleted, and what was
 * refused in it stays refused. Where the backup
 * has no key file, that of the data folder is used.
 * @throws StorageFault, KeyFileFault: a sentence each that says what to do; nothing was changed then
 */
export async function restoreDataFolder(options: RestoreOptions): Promise<Restored> {
  const { backup, data } = options;
  if (!existsSync(join(backup, dataFiles.database)))
    throw new StorageFault(
      `There is no backup in ${backup}: it has no ${dataFiles.database}. Name the folder that gatehouse backup wrote. Nothing was changed.`,
    );
  const made = provideFolder(data);
  try {
    return putBack(options);
  } catch (error) {
    removeEmpty(made);
    throw error;
  }
}
