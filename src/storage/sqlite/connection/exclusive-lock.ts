import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StorageFault } from '../../storage.ts';
import { findUpgrade, migrate } from './migrate.ts';

/** Another process holds the database exclusively, as during a schema upgrade; it can be opened afterwards. */
export class DatabaseLocked extends StorageFault {
  override name = 'DatabaseLocked';

  constructor(cause: unknown) {
    super(
      'Another process has the database for itself, as one has that brings it to a new schema. Wait for it, or end it.',
      { cause },
    );
  }
}

/** Maximum wait for a short read lock, in milliseconds. */
const readLockTimeoutMs = 100;

/** Returns whether an error means that another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');
}

/**
 * Checks the state of a database without changing it.
 * @param file path of the database
 * @returns `held` if another process holds it exclusively; `earlier` if it needs an upgrade, else `current`; undefined
 * if there is none or it cannot be read: opening it reports the reason
 */
export function checkDatabaseState(file: string): 'held' | 'earlier' | 'current' | undefined {
  let db: Database.Database | undefined;
  try {
    // The log of a lost database must not be touched (T-172).
    if (!statSync(file, { throwIfNoEntry: false })?.size) return undefined;
    db = new Database(file, { readonly: true, timeout: readLockTimeoutMs });
    return findUpgrade(db) ? 'earlier' : 'current';
  } catch (error) {
    return isBusy(error) ? 'held' : undefined;
  } finally {
    db?.close();
  }
}

/** Maximum wait for other processes, in milliseconds: commands and concurrent upgrades take less. */
const exclusiveLockTimeoutMs = 5_000;

/** Blocks the thread for a random time, so that two waiting processes get past each other. */
function waitBriefly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20 + Math.random() * 80);
}

function migrateAlone(file: string): void {
  const db = new Database(file, { timeout: 0 });
  try {
    // Before anything is read: the first read then locks the file, which fails while another process has it open.
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    migrate(db);
  } finally {
    db.close();
  }
}

/**
 * Upgrades a database while no other process has it open: a server of the earlier version would go on with tables it
 * does not know, and could not be started again (T-174). This process must not have it open either. No effect if
 * another process upgraded it first.
 * @param file path of the database
 * @throws StorageFault if another process keeps it open
 * @throws DatabaseLocked if another process holds it exclusively; nothing was changed
 */
export function upgradeExclusively(file: string): void {
  const deadline = Date.now() + exclusiveLockTimeoutMs;
  for (;;) {
    try {
      migrateAlone(file);
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      const standing = checkDatabaseState(file);
      if (standing === 'current') return;
      if (Date.now() > deadline && standing === 'held') throw new DatabaseLocked(error);
      if (Date.now() > deadline)
        throw new StorageFault(
          'The database is of an earlier version, and another process has it open. Stop every server and gatehouse stdio on this data folder, then try again; nothing was changed.',
          { cause: error },
        );
    }
    waitBriefly();
  }
}

/** The lock for a server, which ends with the process that holds it, however that ends. */
export interface ServingLock {
  /**
   * Takes the lock. All gatehouses of a process on one storage hold it together.
   * @param isShared true if this server and others forward requests to each other
   * @returns releases it, for a gatehouse that does not serve after all
   * @throws StorageFault if another server holds it, and not both share it
   */
  take(isShared: boolean): () => void;
  /** Ends it: nothing is written any more. */
  end(): void;
}

/**
 * Creates the lock for a server, on a file beside the database. Servers that forward requests to each other share it; any
 * other server has it alone.
 * @param file path of the file; created if it is missing
 */
export function createServingLock(file: string): ServingLock {
  let lock: Database.Database | undefined;
  let holders = 0;
  function end(): void {
    lock?.close();
    lock = undefined;
  }
  return {
    take(isShared) {
      lock ??= lockServing(file, isShared);
      holders++;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        if (--holders === 0) end();
      };
    },
    end,
  };
}

function lockServing(file: string, isShared: boolean): Database.Database {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const db = new Database(file, { timeout: 0 });
  try {
    // SQLite locks an empty database as any other, and writes nothing to it.
    db.exec(isShared ? 'BEGIN; SELECT count(*) FROM sqlite_master' : 'BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw error;
    throw new StorageFault(
      'Another server runs on this data folder. Stop it first, or set cluster.port for both: then each request reaches the server that has its session.',
      { cause: error },
    );
  }
}
