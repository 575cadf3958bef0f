import { join } from 'node:path';
import Database from 'better-sqlite3';
import { KeyFileFault, readKeyFile } from '../../crypto/key-file.ts';
import { keysAt } from '../../crypto/key-schedule.ts';
import { type SchemaUpgrade, StorageFault } from '../storage.ts';
import { isDamage, isFullDisk } from './causes.ts';
import { dataFiles, holdsDatabase, keysLeftAlone, machineClock } from './data-folder.ts';
import { requireWritable } from './folder-access.ts';
import { DatabaseHeld, isBusy } from './held-alone.ts';
import { requireFittingKeys } from './installation.ts';
import { findUpgrade, requireKnownSchema } from './migrate.ts';
import { checkNotLost, explain } from './open.ts';

/** What a data folder is like, without a change to it. */
export type DataFolderState =
  /**
   * There is no database yet: the next start makes it. With when the oldest of its keys was made, epoch seconds, where they
   * are older than a first start leaves them: it seems that there was a database (T-172).
   */
  | { state: 'new'; keysFrom?: number }
  /** With an upgrade, where the next start brings it to another schema. */
  | { state: 'ready'; bytes: number; upgrade?: SchemaUpgrade }
  /** A sentence that says what to do. */
  | { state: 'faulty'; fault: string };

/**
 * Looks whether a data folder can be used, changing nothing: a server may be using it.
 * @param folder path of the folder
 */
export async function inspectDataFolder(folder: string): Promise<DataFolderState> {
  const file = join(folder, dataFiles.database);
  try {
    requireWritable(folder);
    checkNotLost(file);
    const now = machineClock();
    if (!holdsDatabase(folder)) {
      const keysFrom = keysLeftAlone(folder, now);
      return { state: 'new', ...(keysFrom !== undefined && { keysFrom }) };
    }
    const keys = keysAt(readKeyFile(join(folder, dataFiles.keys)), now);
    const db = new Database(file, { readonly: true, timeout: 5_000 });
    try {
      requireKnownSchema(db);
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
    if (isDamage(error) || isFullDisk(error)) return { state: 'faulty', fault: explain(error, file).message };
    if (isBusy(error)) return { state: 'faulty', fault: new DatabaseHeld(error).message };
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown cause';
    return {
      state: 'faulty',
      fault: `The database cannot be read (${code}). Run this as the user the server runs as, or put a backup in its place.`,
    };
  }
}
