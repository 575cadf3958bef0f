import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StorageFault } from '../storage.ts';
import { findUpgrade } from './migrate.ts';

/** Another process has the database for itself, as one has that brings it to a new schema: it can be opened afterwards. */
export class DatabaseHeld extends StorageFault {
  override name = 'DatabaseHeld';

  constructor(cause: unknown) {
    super(
      'Another process has the database for itself, as one has that brings it to a new schema. Wait for it, or end it.',
      { cause },
    );
  }
}

/** How long who only looks for a moment is waited for, in milliseconds. */
const glanceMs = 100;

/** Whether an error says that another process has what is asked for. */
export function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');
}

/**
 * Looks how a database stands, changing nothing.
 * @param file path of the database
 * @returns `held` where another process has it for itself; `earlier` where it is of an earlier version, or else `current`;
 * undefined where there is none, or it cannot be read: who opens it finds out why
 */
export function lookAtDatabase(file: string): 'held' | 'earlier' | 'current' | undefined {
  let db: Database.Database | undefined;
  try {
    // The log of a database that was lost must not be touched (T-172).
    if (!statSync(file, { throwIfNoEntry: false })?.size) return undefined;
    db = new Database(file, { readonly: true, timeout: glanceMs });
    return findUpgrade(db) ? 'earlier' : 'current';
  } catch (error) {
    return isBusy(error) ? 'held' : undefined;
  } finally {
    db?.close();
  }
}
