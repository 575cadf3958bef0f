import type Database from 'better-sqlite3';
import { setBounded } from '../../../collections/caches.ts';

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

/** Cached rows per table, about 1 KB each. */
const maxKept = 1_000;

/** Tables that nearly every request reads and that seldom change, with the cached columns. */
const tables = {
  accounts: 'id, email, password_hash, created_at, disabled_at',
  clients: 'id, payload, created_at, status, origin, used_at',
  grants: 'id, payload, expires_at',
} as const;

/** A table with cached rows. */
export type CachedTable = keyof typeof tables;

/** Wraps a finder of rows with a cache; callers must not modify its rows or payloads. */
export type CacheRows = <Row>(
  table: CachedTable,
  find: (id: string) => Row | undefined,
) => (id: string) => Row | undefined;

/**
 * Creates the row cache of a connection. A row that is changed or removed, also by a foreign key, is evicted at once; a
 * commit of another connection clears the cache. A commit that refers to a removed row is rejected by its foreign keys.
 * @returns wraps finders; no write may depend on their results, which may be as old as this turn of the event loop
 */
export function createRowCache(db: Database.Database, foreignCommits: ForeignCommits): CacheRows {
  const kept: Record<CachedTable, Map<string, unknown>> = {
    accounts: new Map(),
    clients: new Map(),
    grants: new Map(),
  };
  db.function('forget_row', (table: string, id: string) => {
    kept[table as CachedTable].delete(id);
    return null;
  });
  for (const [table, columns] of Object.entries(tables))
    db.exec(
      `CREATE TEMP TRIGGER forget_changed_${table} AFTER UPDATE OF ${columns} ON main.${table}
       BEGIN SELECT forget_row('${table}', old.id); END;
       CREATE TEMP TRIGGER forget_removed_${table} AFTER DELETE ON main.${table}
       BEGIN SELECT forget_row('${table}', old.id); END`,
    );
  let seen: number | undefined;

  function clearAfterForeignCommit(): void {
    const commits = foreignCommits();
    if (commits === seen) return;
    for (const rows of Object.values(kept)) rows.clear();
    seen = commits;
  }

  return <Row>(table: CachedTable, find: (id: string) => Row | undefined) => {
    const rows = kept[table] as Map<string, Row>;
    return (id) => {
      clearAfterForeignCommit();
      const known = rows.get(id);
      if (known) return known;
      const row = find(id);
      // A read within a transaction could be rolled back.
      if (row === undefined || db.inTransaction) return row;
      setBounded(rows, id, row, maxKept);
      return row;
    };
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

/**
 * Creates the counter of removed or rewritten artifacts of a connection, including those removed with their grant or
 * account.
 * @returns returns a mark per kind that stays the same while no artifact of the kind was removed or changed. Each
 * commit of another connection changes it, because its content is unknown.
 */
export function createRemovalCounter(
  db: Database.Database,
  foreignCommits: ForeignCommits,
): (kind: string) => number {
  const changes = new Map<string, number>();
  db.function('note_artifact', (kind: string) => {
    changes.set(kind, (changes.get(kind) ?? 0) + 1);
    return null;
  });
  // A temporary trigger belongs to this connection alone, and also fires for rows removed by a foreign key.
  db.exec(
    `CREATE TEMP TRIGGER note_removed_artifacts AFTER DELETE ON main.artifacts
     BEGIN SELECT note_artifact(old.kind); END;
     CREATE TEMP TRIGGER note_changed_artifacts AFTER UPDATE OF payload ON main.artifacts
     BEGIN SELECT note_artifact(old.kind); END`,
  );
  // Both only grow, so the sum stays the same only if both do.
  return (kind) => foreignCommits() + (changes.get(kind) ?? 0);
}
