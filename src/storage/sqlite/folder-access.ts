import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StorageFault } from '../storage.ts';
import { dataFiles } from './data-folder.ts';
import { adviseOnWriting } from './writing-advice.ts';

/**
 * Requires that this user can write a data folder and its database, changing nothing; what is not there yet is passed over.
 * @param folder path of the folder
 * @throws StorageFault with a sentence that says what to do
 */
export function requireWritable(folder: string): void {
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
 * Warns of a data folder in which every user of the machine may put another database and other keys in place.
 * @param folder path of the folder, which may not be there yet
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
