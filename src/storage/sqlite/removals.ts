import type Database from 'better-sqlite3';
import type { OthersCommits } from './others-commits.ts';

/**
 * Watches a connection for artifacts that are removed or get another payload, those that go with their grant or account
 * included.
 * @returns gives a mark for a kind: as long as it stays the same, no artifact of the kind was removed or changed. A
 *   commit of any other connection changes it, because nobody tells us what was in it.
 */
export function watchRemovals(db: Database.Database, othersCommits: OthersCommits): (kind: string) => number {
  const changes = new Map<string, number>();
  db.function('note_artifact', (kind: string) => {
    changes.set(kind, (changes.get(kind) ?? 0) + 1);
    return null;
  });
  // A temporary trigger belongs to this connection alone, and fires for rows that a foreign key takes along.
  db.exec(
    `CREATE TEMP TRIGGER note_removed_artifacts AFTER DELETE ON main.artifacts
     BEGIN SELECT note_artifact(old.kind); END;
     CREATE TEMP TRIGGER note_changed_artifacts AFTER UPDATE OF payload ON main.artifacts
     BEGIN SELECT note_artifact(old.kind); END`,
  );
  // Both only grow, so that their sum is the same only where both are.
  return (kind) => othersCommits() + (changes.get(kind) ?? 0);
}
