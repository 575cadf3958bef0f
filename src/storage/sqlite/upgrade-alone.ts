import Database from 'better-sqlite3';
import { StorageFault } from '../storage.ts';
import { DatabaseHeld, isBusy, lookAtDatabase } from './held-alone.ts';
import { migrate } from './migrate.ts';

/** How long others are waited for: commands are done sooner, and so is a server that does the same. */
const patienceMs = 5_000;

/** Waits without the event loop, by a chance that lets two that wait for each other get past. */
function waitBriefly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20 + Math.random() * 80);
}

function migrateAlone(file: string): void {
  const db = new Database(file, { timeout: 0 });
  try {
    // Before anything is read: the first read then takes the file, which fails while anybody else has it open.
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    migrate(db);
  } finally {
    db.close();
  }
}

/**
 * Brings a database of an earlier version to the schema of this program while nobody else has it open: a server of the
 * earlier version would go on with tables it does not know, and could not be started again (T-174). This process must
 * not have it open either. Where another process does it first, that is all.
 * @param file path of the database
 * @throws StorageFault where another process keeps it open, DatabaseHeld where one keeps it for itself; nothing was changed
 */
export function upgradeAlone(file: string): void {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      migrateAlone(file);
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      const standing = lookAtDatabase(file);
      if (standing === 'current') return;
      if (Date.now() > deadline && standing === 'held') throw new DatabaseHeld(error);
      if (Date.now() > deadline)
        throw new StorageFault(
          'The database is of an earlier version, and another process has it open. Stop every server and gatehouse stdio on this data folder, then try again; nothing was changed.',
          { cause: error },
        );
    }
    waitBriefly();
  }
}
