import type Database from 'better-sqlite3';

/**
 * Watches a connection for removed artifacts, those that go with their grant or account included.
 * @returns gives a mark for a kind: as long as it stays the same, no artifact of the kind was removed. A commit of any
 *   other connection changes it, because nobody tells us what was in it.
 */
export function watchRemovals(db: Database.Database): (kind: string) => string {
  const removed = new Map<string, number>();
  db.function('note_removed_artifact', (kind: string) => {
    removed.set(kind, (removed.get(kind) ?? 0) + 1);
    return null;
  });
  // A temporary trigger belongs to this connection alone, and fires for rows that a foreign key takes along.
  db.exec(
    `CREATE TEMP TRIGGER note_removed_artifacts AFTER DELETE ON main.artifacts
     BEGIN SELECT note_removed_artifact(old.kind); END`,
  );
  const othersCommits = db.prepare<[], number>('PRAGMA data_version').pluck();
  return (kind) => `${othersCommits.get()} ${removed.get(kind) ?? 0}`;
}
