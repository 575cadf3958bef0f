import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { KeyFileFault, readKeyFile } from '../../../crypto/key-file.ts';
import { keysAt } from '../../../crypto/key-schedule.ts';
import { type SchemaUpgrade, StorageFault } from '../../storage.ts';
import { adviseOnWriting, isDamage, isFullDisk } from '../connection/database-errors.ts';
import { DatabaseLocked, isBusy } from '../connection/exclusive-lock.ts';
import { findUpgrade, requireKnownSchema } from '../connection/migrate.ts';
import { requireNoOrphanedLog, toStorageFault } from '../connection/open.ts';
import { dataFiles, findOrphanedKeysTime, holdsDatabase, systemClock } from './data-folder.ts';
import { requireFittingKeys, requireNotMoved } from './installation.ts';

/** The state of a data folder. */
export type DataFolderState =
  /**
   * There is no database yet; the next start creates it. `keysFrom`: creation time of the oldest key, epoch seconds, if
   * it is older than a first start: a database seems to be lost (T-172).
   */
  | { state: 'new'; keysFrom?: number }
  /** `upgrade` is present if the next start upgrades the schema. */
  | { state: 'ready'; bytes: number; upgrade?: SchemaUpgrade }
  /** `fault`: a sentence that says what to do. */
  | { state: 'faulty'; fault: string };

/**
 * Checks whether a data folder can be used without changing it: a server may be using it.
 * @param folder path of the folder
 */
export async function inspectDataFolder(folder: string): Promise<DataFolderState> {
  const file = join(folder, dataFiles.database);
  try {
    requireWritable(folder);
    requireNoOrphanedLog(file);
    const now = systemClock();
    if (!holdsDatabase(folder)) {
      const keysFrom = findOrphanedKeysTime(folder, now);
      return { state: 'new', ...(keysFrom !== undefined && { keysFrom }) };
    }
    const keys = keysAt(readKeyFile(join(folder, dataFiles.keys)), now);
    const db = new Database(file, { readonly: true, timeout: 5_000 });
    try {
      requireKnownSchema(db);
      requireNotMoved(db);
      requireFittingKeys(db, keys);
      const pages = db.pragma('page_count', { simple: true }) as number;
      const pageBytes = db.pragma('page_size', { simple: true }) as number;
      const upgrade = findUpgrade(db);
      return { state: 'ready', bytes: pages * pageBytes, ...(upgrade && { upgrade }) };
    } finally {
      db.close();
    }
  } catch (error) {
    if (error instanceof KeyFileFault || error instanceof StorageFault)
      return { state: 'faulty', fault: error.message };
    if (isDamage(error) || isFullDisk(error))
      return { state: 'faulty', fault: toStorageFault(error, file).message };
    if (isBusy(error)) return { state: 'faulty', fault: new DatabaseLocked(error).message };
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown cause';
    return {
      state: 'faulty',
      fault: `The database cannot be read (${code}). Run this as the user the server runs as, or put a backup in its place.`,
    };
  }
}

/**
 * Requires write access to a data folder and its database, without changing them; missing files are skipped.
 * @param folder path of the folder
 * @throws StorageFault with a sentence that says what to do
 */
function requireWritable(folder: string): void {
  for (const path of [folder, join(folder, dataFiles.database)].filter((path) => existsSync(path)))
    try {
      accessSync(path, constants.W_OK);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const advice = adviseOnWriting(
        code,
        'Run this as the user the server runs as, or give that user write access to it.',
      );
      throw new StorageFault(`${path} cannot be written (${code}). ${advice}`, { cause });
    }
}

/**
 * Returns a warning if every user of the machine may replace the database and keys.
 * @param folder path of the folder, which may be missing
 * @returns no sentence or one, with what to do
 */
export function adviseOnFolder(folder: string): string[] {
  const mode = existsSync(folder) ? statSync(folder).mode & 0o777 : 0;
  return (mode & 0o002) === 0
    ? []
    : [
        `All users of this machine may write to the data folder (mode ${mode.toString(8)}), and so put another database and other keys in place. Run: chmod 700 ${JSON.stringify(folder)}`,
      ];
}
