import type Database from 'better-sqlite3';
import { setBounded } from '../../../collections/caches.ts';
import type { ForeignCommits } from './data-version-watcher.ts';

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
