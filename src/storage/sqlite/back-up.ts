import {
  closeSync,
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
import { KeyFileFault, readKeyFile } from '../../crypto/key-file.ts';
import { keysAt } from '../../crypto/key-schedule.ts';
import { randomSecret } from '../../crypto/secret.ts';
import { StorageFault } from '../storage.ts';
import { writeBackupTime } from './backup-time.ts';
import { isFullDisk } from './causes.ts';
import { dataFiles } from './data-folder.ts';
import { requireFittingKeys } from './installation.ts';
import { copyDatabase } from './snapshot.ts';

/** What a backup holds. */
export interface Backup {
  /** Absolute path of its folder. */
  folder: string;
  /** Size of the database, in bytes. */
  bytes: number;
  withKeys: boolean;
}

/** Makes a file or folder that was written durable. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** @throws KeyFileFault where the copied keys are damaged, or not those of the copied database */
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
 * @param keyFile copy of the keys; undefined where they are left out
 * @throws StorageFault where the copy is damaged, which is the disk's fault or that of the original; KeyFileFault where
 * the keys do not open it
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

/** How often the copy is begun again because the keys changed meanwhile. */
const maxAttempts = 3;

/**
 * Copies a database with the keys that open all of it: those of before and after the copy, which must be the same.
 * @returns from when the copy is, epoch seconds
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
 * Copies the database as it is at one moment, while a server may be writing to it, and the key file. The folder appears
 * whole and durable, or not at all.
 * @param data a data folder
 * @param target folder of the backup; must not be there yet
 * @param withKeys whether the key file goes with it; without it the backup cannot be used
 * @throws StorageFault, KeyFileFault: a sentence each that says what to do (T-173)
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
