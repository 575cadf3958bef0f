import { StorageUnavailable } from '../../storage.ts';
import type { Database, Statements } from './database.ts';

/** Number of times that rows of a table, or artifacts of a kind, were removed or rewritten. */
export interface Mark {
  /** Name of a table, or `artifacts/` and the kind. */
  name: string;
  changes: number;
}

/** Marks of what a node keeps in memory of the database. */
export interface ChangeMarks {
  /**
   * Returns a number that stays the same while no node has removed or rewritten anything of this name. Changes of this
   * node show once they are durable, those of others within {@link lookMs} and the time of a query.
   * @throws StorageUnavailable if the database has not answered for {@link staleMs}: nothing kept may be used then
   */
  of(name: string): number;
  /** Number of times that the database was found on another server or timeline, or in an earlier state. */
  readonly setBacks: number;
  /** Takes marks that were read within a transaction of this node, once it was committed. */
  note(marks: readonly Mark[]): void;
  close(): void;
}

/** Pause between looks, in milliseconds. */
export const lookMs = 100;

/**
 * Maximum age of what is known, in milliseconds. With the second within which streams end then, a node that is cut off from the
 * database serves nothing from memory for longer than five seconds.
 */
export const staleMs = 4_000;

/** Distance between the marks before and after a set-back, so that no mark comes again. */
const setBackStep = 2 ** 40;

/** Identifies the server and its timeline, which a promoted standby and a restored server have anew. */
const serverSql = `SELECT system_identifier || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS server
  FROM pg_control_system()`;

/**
 * Returns the identity of the server and its timeline. Undefined if the user may not ask, or what speaks the protocol has
 * no such thing.
 */
export async function findServer(db: Pick<Statements, 'row'>): Promise<string | undefined> {
  try {
    return (await db.row<{ server: string }>(serverSql))?.server;
  } catch {
    return undefined;
  }
}

/** Name of the number of commits among the marks. No commit of this node notes it. */
const commits = 'commit_order';

/** Marks of the database, and its number of commits. */
const marksSql = `SELECT name, changes FROM change_marks UNION ALL SELECT '${commits}', commits FROM ${commits}`;

/**
 * Opens the marks of a database and looks at them from then on.
 * @param onSetBack called if the database may lack commits that it had, after a failover or a restore
 */
export async function watchChangeMarks(
  db: Database,
  onSetBack: () => void = () => undefined,
): Promise<ChangeMarks> {
  const known = new Map<string, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  let notedAt = Number.NEGATIVE_INFINITY;
  let setBacks = 0;
  let server = await findServer(db);
  // A standby that is not promoted yet has no such position: the look fails.
  const sql =
    server === undefined ? marksSql : `SELECT * FROM (${marksSql}) AS marks, (${serverSql}) AS here`;

  function note(marks: readonly Mark[]): void {
    // A look may have begun before a commit of this node that was noted since.
    for (const { name, changes } of marks) known.set(name, Math.max(known.get(name) ?? 0, changes));
  }

  async function look(): Promise<void> {
    const begunAt = performance.now();
    const marks = await db.rows<Mark & { server?: string }>(sql);
    const found = new Map(marks.map(({ name, changes }) => [name, changes]));
    const isBehind = (name: string): boolean => (found.get(name) ?? 0) < (known.get(name) ?? 0);
    const present = marks[0]?.server;
    if (present !== server || isBehind(commits) || (begunAt > notedAt && [...known.keys()].some(isBehind))) {
      server = present;
      known.clear();
      setBacks++;
      onSetBack();
    }
    note(marks);
    lookedAt = begunAt;
  }

  function lookAgain(): void {
    if (isClosed) return;
    timer = setTimeout(
      () =>
        void look()
          .catch(() => undefined)
          .then(lookAgain),
      lookMs,
    );
    timer.unref();
  }

  await look();
  lookAgain();
  return {
    of(name) {
      if (performance.now() - lookedAt > staleMs)
        throw new StorageUnavailable('the database has not answered for four seconds');
      return (known.get(name) ?? 0) + setBacks * setBackStep;
    },
    get setBacks() {
      return setBacks;
    },
    note(marks) {
      note(marks);
      notedAt = performance.now();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
