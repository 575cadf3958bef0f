import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileKeyStore, openKeyRing } from '../../../crypto/key-ring.ts';
import { StorageFault } from '../../storage.ts';
import { isFullDisk } from '../connection/database-errors.ts';
import { toStorageFault } from '../connection/open.ts';
import { openSqliteStorage } from '../storage.ts';
import { copyDatabase } from './back-up.ts';
import { type DataFolder, type DataFolderOptions, dataFiles, systemClock } from './data-folder.ts';

/** Returns whether a folder is on a read-only file system. */
export function isMountedReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

function makeRoom(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'gatehouse-read-'));
  } catch (cause) {
    throw new StorageFault(
      `The database is on a file system that is mounted read-only, and it cannot be copied to ${tmpdir()} (${(cause as NodeJS.ErrnoException).code ?? 'unknown cause'}). Name another folder with TMPDIR.`,
      { cause },
    );
  }
}

/**
 * Opens a data folder on a read-only file system through a temporary copy of its database, readable by this user only:
 * SQLite cannot open a database without writing beside it. Closing the storage removes the copy. Writes fail with a
 * StorageFault.
 * @param folder path of a data folder
 * @throws StorageFault, KeyFileFault with a sentence that says what to do
 */
export async function openReadOnly(
  folder: string,
  { now = systemClock }: Pick<DataFolderOptions, 'now'> = {},
): Promise<DataFolder> {
  const refuse = (): never => {
    throw new StorageFault(
      `The data folder ${folder} is on a file system that is mounted read-only: only what changes nothing can be done there.`,
    );
  };
  const room = makeRoom();
  const free = (): void => rmSync(room, { recursive: true, force: true });
  const copy = join(room, dataFiles.database);
  try {
    const exclusively = async (): Promise<never> => refuse();
    const keyRing = openKeyRing(createFileKeyStore(join(folder, dataFiles.keys), exclusively), now);
    copyDatabase(join(folder, dataFiles.database), copy);
    const storage = openSqliteStorage(copy, keyRing.keys, undefined, refuse);
    const close = async (): Promise<void> => {
      await storage.close();
      free();
    };
    return { storage: { ...storage, close }, keyRing, keys: keyRing.keys };
  } catch (error) {
    free();
    throw isFullDisk(error)
      ? new StorageFault(
          `There is no room in ${tmpdir()} for a copy of the database. Name another folder with TMPDIR.`,
          {
            cause: error,
          },
        )
      : toStorageFault(error, join(folder, dataFiles.database));
  }
}
