import { StorageUnavailable } from '../../storage.ts';
import type { Database } from './database.ts';

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
  /** Takes marks that were read within a transaction of this node, once it was committed. */
  note(marks: readonly Mark[]): void;
  close(): void;
}

/** Pause between looks, in milliseconds. */
export const lookMs = 100;

/**
 * Maximum age of what is known, in milliseconds. With the second after which streams end, a node that is cut off from the
 * database serves nothing from memory for longer than five seconds.
 */
export const staleMs = 4_000;

/** Opens the marks of a database and looks at them from then on. */
export async function watchChangeMarks(db: Database): Promise<ChangeMarks> {
  const known = new Map<string, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  function note(marks: readonly Mark[]): void {
    // A look may have begun before a commit of this node that was noted since.
    for (const { name, changes } of marks) known.set(name, Math.max(known.get(name) ?? 0, changes));
  }

  async function look(): Promise<void> {
    const begunAt = performance.now();
    note(await db.rows<Mark>('SELECT name, changes FROM change_marks'));
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
      return known.get(name) ?? 0;
    },
    note,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
