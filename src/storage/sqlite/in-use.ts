import { linkSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { randomSecret } from '../../crypto/secret.ts';
import { StorageFault } from '../storage.ts';
import { isDamage } from './causes.ts';
import { isBusy } from './held-alone.ts';
import { explain } from './open.ts';

/**
 * Takes a database for itself for a moment.
 * @returns false where its content is no sound database, whether anybody has it open or not
 * @throws SqliteError, busy where another process has it open
 */
function takeAlone(file: string): boolean {
  const db = new Database(file, { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE; COMMIT;');
    return true;
  } catch (cause) {
    if (isDamage(cause)) return false;
    throw cause;
  } finally {
    db.close();
  }
}

/**
 * Takes a damaged database for itself for a moment. SQLite locks a file for one process before it reads anything where a
 * journal of rollback lies beside it; the locks are those of the file, whatever name it is opened by. So it is opened by
 * a second name, beside which lies a journal that holds nothing to roll back: the file stays as it is.
 * @throws SqliteError, busy where another process has it open; an error of the system where the file gets no second name
 * @see https://www.sqlite.org/lockingv3.html#hot_journals
 */
function takeDamagedAlone(file: string): void {
  const name = `${file}.${randomSecret(6)}`;
  try {
    linkSync(file, name);
    writeFileSync(`${name}-journal`, '-', { mode: 0o600 });
    takeAlone(name);
  } finally {
    for (const suffix of ['-journal', '-wal', '-shm', '']) rmSync(`${name}${suffix}`, { force: true });
  }
}

/**
 * Requires that no other process has a database open. It may be damaged.
 * @param file path of the database
 * @throws StorageFault while one has it open, or where that cannot be found out
 */
export function requireNotInUse(file: string): void {
  let isSound: boolean | undefined;
  try {
    isSound = takeAlone(file);
    if (!isSound) takeDamagedAlone(file);
  } catch (cause) {
    if (isBusy(cause))
      throw new StorageFault('The database is in use. Stop the server first; nothing was changed.', {
        cause,
      });
    if (isSound === undefined) throw explain(cause, file);
    throw new StorageFault(
      `The database is damaged, and it cannot be found out whether a server has it open (${(cause as NodeJS.ErrnoException).code ?? 'unknown cause'}). Stop every server, move the files of the data folder elsewhere, and restore without --replace; nothing was changed.`,
      { cause },
    );
  }
}
