import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createKeyFile, readKeyFile } from '../../../crypto/key-file.ts';
import { createFileKeyStore, type KeyRing, openKeyRing } from '../../../crypto/key-ring.ts';
import type { KeySet } from '../../../crypto/key-schedule.ts';
import { type SchemaUpgrade, type Storage, StorageFault } from '../../storage.ts';
import { describeUnwritable, hasContent, requireNoOrphanedLog } from '../connection/open.ts';
import { openSqliteStorage } from '../storage.ts';

/** An opened data folder: the state that `createGatehouse` needs. */
export interface DataFolder {
  storage: Storage;
  /** The keys of `keyRing`; they change with it. */
  keys: KeySet;
  keyRing: KeyRing;
}

/** Options of {@link openDataFolder}. */
export interface DataFolderOptions {
  /** Returns the time in epoch seconds; default is the system clock. */
  now?: () => number;
  /** Called before a database of an earlier version is upgraded. */
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void;
  /**
   * Called before a new database is created beside keys of an earlier one, if the database is missing or empty: data of
   * the earlier one will be missing (T-172).
   * @param keysFrom creation time of the oldest key, epoch seconds
   */
  onDatabaseMissing?: (keysFrom: number) => void;
}

/** Maximum age of keys that may stem from this start, a concurrent one or an interrupted one, in seconds. */
const freshSeconds = 60;

/** Returns the system time, epoch seconds. */
export const systemClock = (): number => Math.floor(Date.now() / 1000);

/** File names in a data folder and in a backup. */
export const dataFiles = { database: 'gatehouse.db', keys: 'gatehouse.keys.json' } as const;

/** Error codes of a folder that cannot be created or written. */
const folderFaults = new Set(['EACCES', 'EROFS', 'EPERM', 'ENOTDIR', 'EEXIST', 'ENOENT', 'EISDIR']);

/**
 * Turns an error of a folder that cannot be created or written into a StorageFault; returns other errors as they are.
 */
function explainFolder(error: unknown, folder: string): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  return folderFaults.has(code)
    ? new StorageFault(describeUnwritable(folder, code), { cause: error })
    : error;
}

/**
 * Creates a folder with its parents. Node's own recursive `mkdir` never returns if a parent takes no folders (/proc).
 * @returns the created folders, the innermost first
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
 * Creates a data folder with its parents if it is missing.
 * @returns the created folders, the innermost first
 * @throws StorageFault if the path is no folder or cannot be created
 */
export function ensureFolder(folder: string): string[] {
  try {
    const made = makeFolders(folder);
    if (statSync(folder).isDirectory()) return made;
  } catch (error) {
    throw explainFolder(error, folder);
  }
  throw new StorageFault(describeUnwritable(folder));
}

/** Returns whether a data folder has a database; an empty file is none. */
export function holdsDatabase(folder: string): boolean {
  return hasContent(join(folder, dataFiles.database));
}

/**
 * Returns the creation time of the oldest key in a folder without a database.
 * @returns epoch seconds; undefined if there are no keys, or only those of a first start
 * @throws KeyFileFault if the keys cannot be read
 */
export function findOrphanedKeysTime(folder: string, nowSeconds: number): number | undefined {
  const file = join(folder, dataFiles.keys);
  if (!existsSync(file)) return undefined;
  const { sealing, cookies, signing } = readKeyFile(file);
  const keysFrom = Math.min(...[...sealing, ...cookies, ...signing].map(({ createdAt }) => createdAt));
  return nowSeconds - keysFrom > freshSeconds ? keysFrom : undefined;
}

/**
 * Opens a data folder: `gatehouse.db` (one SQLite file, with its `-wal` and `-shm` while it is open) and
 * `gatehouse.keys.json`, both readable by their owner only. Missing files are created.
 * @param folder path of the folder
 * @throws StorageFault, KeyFileFault with a sentence that says what to do
 */
export async function openDataFolder(
  folder: string,
  { now = systemClock, beforeUpgrade, onDatabaseMissing }: DataFolderOptions = {},
): Promise<DataFolder> {
  if (typeof folder !== 'string')
    throw new StorageFault("openDataFolder takes the path of a folder, such as './gatehouse-data'.");
  const database = join(folder, dataFiles.database);
  const file = join(folder, dataFiles.keys);
  ensureFolder(folder);
  try {
    // Before a key file is created: a rejected folder stays unchanged.
    requireNoOrphanedLog(database);
    const isNew = !holdsDatabase(folder);
    const keysFrom = isNew ? findOrphanedKeysTime(folder, now()) : undefined;
    // Only for a new database: new keys would not open an existing one.
    if (isNew) await createKeyFile(file, now());
    const keyRing = openKeyRing(
      createFileKeyStore(file, (work) => storage.exclusively(work)),
      now,
    );
    // Before it is created: if creation fails midway, the next start finds a database.
    if (keysFrom !== undefined) onDatabaseMissing?.(keysFrom);
    const storage = openSqliteStorage(database, keyRing.keys, beforeUpgrade);
    return { storage, keyRing, keys: keyRing.keys };
  } catch (error) {
    throw explainFolder(error, folder);
  }
}
