import type Database from 'better-sqlite3';
import type { OthersCommits } from './others-commits.ts';

/**
 * Watches a table that is empty in many installations, so that these do not look into it for each request.
 * @returns says whether there surely is nothing in it, for who reads outside of a transaction: within one a row could be
 *   undone. Where something was seen in it once, nothing is sure any more.
 */
export function watchUnused(
  db: Database.Database,
  table: string,
  othersCommits: OthersCommits,
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
    const commits = othersCommits();
    if (emptyAt === commits) return true;
    isUsed = some.get() !== undefined;
    emptyAt = commits;
    return !isUsed;
  };
}
