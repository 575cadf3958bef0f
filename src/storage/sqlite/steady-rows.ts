import type Database from 'better-sqlite3';
import { keepNewest } from '../../collections/keep-newest.ts';
import type { OthersCommits } from './others-commits.ts';

/** How many rows of a table are kept, about 1 KB each. */
const maxKept = 1_000;

/** What is read at nearly every request and seldom changes, with the columns that are read of it. */
const tables = {
  accounts: 'id, email, password_hash, created_at, disabled_at',
  clients: 'id, payload, created_at, status, origin, used_at',
  grants: 'id, payload, expires_at',
} as const;

/** A table whose rows are kept. */
export type SteadyTable = keyof typeof tables;

/** Gives a finder that keeps what it found; its rows are read, never changed, and so are their payloads. */
export type KeepRows = <Row>(
  table: SteadyTable,
  find: (id: string) => Row | undefined,
) => (id: string) => Row | undefined;

/**
 * Creates the rows that a connection keeps once they were read. A row that changes or goes is forgotten as that happens,
 * also where a foreign key takes it along; a commit of any other connection has all of them forgotten. What hangs on a row is
 * refused at the commit where the row is gone by then.
 * @returns gives finders. No write may decide by what they find, which may be as old as this turn of the event loop
 */
export function createSteadyRows(db: Database.Database, othersCommits: OthersCommits): KeepRows {
  const kept: Record<SteadyTable, Map<string, unknown>> = {
    accounts: new Map(),
    clients: new Map(),
    grants: new Map(),
  };
  db.function('forget_row', (table: string, id: string) => {
    kept[table as SteadyTable].delete(id);
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

  function forgetWhereOthersWrote(): void {
    const commits = othersCommits();
    if (commits === seen) return;
    for (const rows of Object.values(kept)) rows.clear();
    seen = commits;
  }

  return <Row>(table: SteadyTable, find: (id: string) => Row | undefined) => {
    const rows = kept[table] as Map<string, Row>;
    return (id) => {
      forgetWhereOthersWrote();
      const known = rows.get(id);
      if (known) return known;
      const row = find(id);
      // What is read within a transaction could be undone.
      if (row === undefined || db.inTransaction) return row;
      keepNewest(rows, id, row, maxKept);
      return row;
    };
  };
}
