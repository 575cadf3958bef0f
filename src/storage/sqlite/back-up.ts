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
import { randomSecret } from '../../crypto/secret.ts';
import { StorageFault } from '../storage.ts';
import { dataFiles } from './data-folder.ts';

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

/** @throws StorageFault where the copy is damaged, which is the disk's fault or that of the original */
function checkCopy(file: string): void {
  const copy = new Database(file, { readonly: true });
  try {
    if (copy.pragma('integrity_check(1)', { simple: true }) !== 'ok')
      throw new StorageFault('The copy is damaged, so there is no backup. Check the disk and the database.');
  } finally {
    copy.close();
  }
}

function copyDatabase(from: string, to: string): void {
  rmSync(to, { force: true });
  closeSync(openSync(to, 'wx', 0o600));
  const db = new Database(from, { readonly: true, timeout: 5_000 });
  try {
    db.prepare('VACUUM INTO ?').run(to);
  } finally {
    db.close();
  }
}

/** How often the copy is begun again because the keys changed meanwhile. */
const maxAttempts = 3;

/** Copies a database with the keys that open all of it: those of before and after the copy, which must be the same. */
function copyTogether(data: string, draft: string, withKeys: boolean): void {
  const copy = join(draft, dataFiles.database);
  const readKeys = (): string => readFileSync(join(data, dataFiles.keys), 'utf8');
  for (let attempt = 1; ; attempt++) {
    const keys = readKeys();
    copyDatabase(join(data, dataFiles.database), copy);
    if (readKeys() === keys) {
      if (withKeys)
        writeFileSync(join(draft, dataFiles.keys), keys, { mode: 0o600, flag: 'wx', flush: true });
      break;
    }
    if (attempt === maxAttempts)
      throw new StorageFault('The keys keep changing. Try again in a moment; there is no backup.');
  }
  checkCopy(copy);
  flush(copy);
}

/**
 * Copies the database as it is at one moment, while a server may be writing to it, and the key file. `VACUUM INTO`
 * reads one snapshot; SQLite's backup interface would begin again at each write of another process. The folder appears
 * whole and durable, or not at all.
 * @param data a data folder
 * @param target folder of the backup; must not be there yet
 * @param withKeys whether the key file goes with it; without it the backup cannot be used
 * @throws StorageFault with a sentence that says what to do
 * @see https://www.sqlite.org/lang_vacuum.html#vacuuminto (T-173)
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
    copyTogether(data, draft, withKeys);
    flush(draft);
    renameSync(draft, folder);
    flush(dirname(folder));
    return { folder, bytes: statSync(join(folder, dataFiles.database)).size, withKeys };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (error instanceof StorageFault) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown cause';
    const advice =
      code === 'SQLITE_FULL' || code === 'ENOSPC'
        ? 'The disk is full.'
        : `The database cannot be copied (${code}).`;
    throw new StorageFault(`${advice} There is no backup.`, { cause: error });
  }
}
