import type Database from 'better-sqlite3';

/** Gives a number that grows, in the next turn of the event loop at the latest, when some other connection has committed. */
export type OthersCommits = () => number;

/**
 * Watches for commits of other connections, of which nobody tells us what was in them. They are looked for once a turn of the
 * event loop, for all who ask in that turn.
 */
export function watchOthersCommits(db: Database.Database): OthersCommits {
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
