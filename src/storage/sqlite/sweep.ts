import type Database from 'better-sqlite3';
import type { Writer } from './writer.ts';

/** Rows removed in one commit: small enough that others hardly notice (T-180). */
const batchSize = 500;

/**
 * Creates the sweeper of expired grants and artifacts.
 * @returns a function that removes what expired before a time (epoch seconds) and gives the number of rows
 */
export function createSweeper(
  db: Database.Database,
  writer: Writer,
): (nowSeconds: number) => Promise<number> {
  const statements = [
    db.prepare(
      `DELETE FROM artifacts WHERE (id, kind) IN (SELECT id, kind FROM artifacts WHERE expires_at < ? LIMIT ${batchSize})`,
    ),
    db.prepare(
      `DELETE FROM grants WHERE id IN (SELECT id FROM grants WHERE expires_at < ? LIMIT ${batchSize})`,
    ),
  ];
  return async (nowSeconds) => {
    let removed = 0;
    for (const statement of statements) {
      for (let changes = batchSize; changes === batchSize; removed += changes)
        changes = await writer.write(() => statement.run(nowSeconds).changes);
    }
    return removed;
  };
}
