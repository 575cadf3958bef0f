import type Database from 'better-sqlite3';

/**
 * Returns a number that grows when another connection has committed, in the next turn of the event loop at the latest.
 */
export type ForeignCommits = () => number;

/** Watches for commits of other connections (SQLite's `data_version`), at most once per turn of the event loop. */
export function watchDataVersion(db: Database.Database): ForeignCommits {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  let version = dataVersion.get();
  let changes = 0;
  let isOfTurn = false;
  const look = (): void => {
    const found = dataVersion.get();
    if (found !== version) changes++;
    version = found;
  };
  return () => {
    if (isOfTurn) return changes;
    look();
    isOfTurn = true;
    setImmediate(() => {
      isOfTurn = false;
    });
    return changes;
  };
}

/**
 * Watches a table that is empty in many installations, so that requests need not query it.
 * @returns returns true if the table is certainly empty, for readers outside a transaction; false for good once a row
 * was seen
 */
export function createEmptyTableCheck(
  db: Database.Database,
  table: string,
  foreignCommits: ForeignCommits,
): () => boolean {
  const some = db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).pluck();
  let isUsed = false;
  let emptyAt: number | undefined;
  db.function(`note_use_of_${table}`, () => {
    isUsed = true;
    return null;
  });
  db.exec(
    `CREATE TEMP TRIGGER watch_use_of_${table} AFTER INSERT ON main.${table} BEGIN SELECT note_use_of_${table}(); END`,
  );
  return () => {
    if (isUsed) return false;
    const commits = foreignCommits();
    if (emptyAt === commits) return true;
    isUsed = some.get() !== undefined;
    emptyAt = commits;
    return !isUsed;
  };
}
