import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createKeyFile, readKeyFile } from '../../crypto/key-file.ts';
import { type KeyRing, openKeyRing } from '../../crypto/key-ring.ts';
import type { KeySet } from '../../crypto/keys.ts';
import { type SchemaUpgrade, type Storage, StorageFault } from '../storage.ts';
import { checkNotLost, hasContent, notWritable } from './open.ts';
import { openSqliteStorage } from './storage.ts';

/** An opened data folder: what `createGatehouse` needs to keep its state. */
export interface DataFolder {
  storage: Storage;
  /** Those of the ring: they change with it. */
  keys: KeySet;
  keyRing: KeyRing;
}

/** How a data folder is opened. */
export interface DataFolderOptions {
  /** Epoch seconds; the clock of the machine by default. */
  now?: () => number;
  /** Is told that the database is of an earlier version and is about to be brought to the schema of this one. */
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void;
  /**
   * Is told that there is no database, or an empty file in its place, beside keys that were there before: a new one is
   * about to be made, and what an earlier one held will not be in it (T-172).
   * @param keysFrom when the oldest of the keys was made, epoch seconds
   */
  beginsAnew?: (keysFrom: number) => void;
}

/** Keys that are younger are of this start, of one beside it, or of one that ended midway, in seconds. */
const freshSeconds = 60;

/** The clock of the machine, epoch seconds. */
export const machineClock = (): number => Math.floor(Date.now() / 1000);

/** The files of a data folder, and of a backup of it. */
export const dataFiles = { database: 'gatehouse.db', keys: 'gatehouse.keys.json' } as const;

/** What a folder that cannot be made or written fails with. */
const folderFaults = new Set(['EACCES', 'EROFS', 'EPERM', 'ENOTDIR', 'EEXIST', 'ENOENT', 'EISDIR']);

/** Says of a folder that cannot be made or written what to do; any other error stays as it is. */
function explainFolder(error: unknown, folder: string): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  return folderFaults.has(code) ? new StorageFault(notWritable(folder, code), { cause: error }) : error;
}

/**
 * Makes a folder and what is missing above it. Node's own recursive way never ends where a parent takes no folders (/proc).
 * @returns the folders that were made, the innermost first
 */
function makeFolders(folder: string): string[] {
  if (existsSync(folder)) return [];
  const above = makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
    return [folder, ...above];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return above;
  }
}

/**
 * Makes a data folder where there is none, and what is missing above it.
 * @returns the folders that were made, the innermost first
 * @throws StorageFault where something else is there, or it cannot be made
 */
export function provideFolder(folder: string): string[] {
  try {
    const made = makeFolders(folder);
    if (statSync(folder).isDirectory()) return made;
  } catch (error) {
    throw explainFolder(error, folder);
  }
  throw new StorageFault(notWritable(folder));
}

/** Whether a data folder has a database; an empty file is none. */
export function holdsDatabase(folder: string): boolean {
  return hasContent(join(folder, dataFiles.database));
}

/**
 * Gives when the oldest key of a folder without a database was made.
 * @returns epoch seconds; undefined where there are none, or none older than a first start leaves them
 * @throws KeyFileFault where they cannot be read
 */
export function keysLeftAlone(folder: string, nowSeconds: number): number | undefined {
  const file = join(folder, dataFiles.keys);
  if (!existsSync(file)) return undefined;
  const { sealing, cookies, signing } = readKeyFile(file);
  const keysFrom = Math.min(...[...sealing, ...cookies, ...signing].map(({ createdAt }) => createdAt));
  return nowSeconds - keysFrom > freshSeconds ? keysFrom : undefined;
}

/**
 * Opens a data folder: `gatehouse.db` (one SQLite file, with its `-wal` and `-shm` while it is open) and
 * `gatehouse.keys.json`, both readable by their owner alone. What is missing is made.
 * @param folder path of the folder
 * @throws StorageFault, KeyFileFault: a sentence each that says what to do
 */
export async function openDataFolder(
  folder: string,
  { now = machineClock, beforeUpgrade, beginsAnew }: DataFolderOptions = {},
): Promise<DataFolder> {
  if (typeof folder !== 'string')
    throw new StorageFault("openDataFolder takes the path of a folder, such as './gatehouse-data'.");
  const database = join(folder, dataFiles.database);
  const file = join(folder, dataFiles.keys);
  provideFolder(folder);
  try {
    // Before a key file is made: what is refused changes nothing.
    checkNotLost(database);
    const isNew = !holdsDatabase(folder);
    const keysFrom = isNew ? keysLeftAlone(folder, now()) : undefined;
    // New keys would not open what a database holds already.
    if (isNew) await createKeyFile(file, now());
    const keyRing = openKeyRing({ file, exclusively: (work) => storage.exclusively(work), now });
    // Before it is made: where that fails midway, the next start finds a database.
    if (keysFrom !== undefined) beginsAnew?.(keysFrom);
    const storage = openSqliteStorage(database, keyRing.keys, beforeUpgrade);
    return { storage, keyRing, keys: keyRing.keys };
  } catch (error) {
    throw explainFolder(error, folder);
  }
}
