import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { KeyFileFault, readKeyFile } from '../../crypto/key-file.ts';
import { type SchemaUpgrade, StorageFault } from '../storage.ts';
import { isDamage, isFullDisk } from './causes.ts';
import { dataFiles } from './data-folder.ts';
import { findUpgrade, requireKnownSchema } from './migrate.ts';
import { explain } from './open.ts';

/** What a data folder is like, without a change to it. */
export type DataFolderState =
  /** There is no database yet: the first start makes it. */
  | { state: 'new' }
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
    if (!statSync(file, { throwIfNoEntry: false })) return { state: 'new' };
    readKeyFile(join(folder, dataFiles.keys));
    const db = new Database(file, { readonly: true, timeout: 5_000 });
    try {
      requireKnownSchema(db);
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
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown cause';
    return {
      state: 'faulty',
      fault: `The database cannot be read (${code}). Run this as the user the server runs as, or put a backup in its place.`,
    };
  }
}
