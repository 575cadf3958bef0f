import type Database from 'better-sqlite3';
import type { ForeignCommits } from './data-version-watcher.ts';

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
