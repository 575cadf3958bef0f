import type Database from 'better-sqlite3';

/** Gives a number that is another one as soon as some other connection has committed. */
export type OthersCommits = () => number;

/**
 * Watches for commits of other connections, of which nobody tells us what was in them. They are looked for once a turn of the
 * event loop, for all who ask in that turn.
 */
export function watchOthersCommits(db: Database.Database): OthersCommits {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  let ofTurn: number | undefined;
  return () => {
    if (ofTurn !== undefined) return ofTurn;
    ofTurn = dataVersion.get() ?? 0;
    setImmediate(() => {
      ofTurn = undefined;
    });
    return ofTurn;
  };
}
