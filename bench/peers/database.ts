import { join } from 'node:path';
import Database from 'better-sqlite3';

/**
 * Opens the database of a peer in the folder that the bench gives it.
 * @param synchronous what SQLite waits for at a commit: `FULL` for the disk, `NORMAL` for less
 */
export function openDatabase(synchronous: string): Database.Database {
  const db = new Database(join(process.env.FOLDER ?? '', 'peer.db'));
  db.pragma('journal_mode = WAL');
  db.pragma(`synchronous = ${synchronous}`);
  return db;
}
