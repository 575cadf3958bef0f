import { statSync } from 'node:fs';
import { StorageUnavailable } from '../storage.ts';

/**
 * Creates a check that a file is still the one that was opened. SQLite goes on writing to a file that was removed or
 * replaced under it, and what was acknowledged then would be gone at the next start (T-170).
 * @param file path of an open database
 * @returns throws StorageUnavailable where another file, or none, stands there
 */
export function createStillThere(file: string): () => void {
  const opened = statSync(file);
  return () => {
    const now = statSync(file, { throwIfNoEntry: false });
    if (now?.ino !== opened.ino || now.dev !== opened.dev)
      throw new StorageUnavailable('the database file was moved or removed; put it back, or stop the server');
  };
}
