import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { StorageFault, StorageUnavailable } from '../storage.ts';

/** Runs writes; those that arrive together share one commit. */
export interface Writer {
  /**
   * Runs `work` inside a transaction and resolves with what it gives once the commit is durable. Where `work`
   * throws, its own changes are undone, those that share the commit stand, and the call rejects with the same error.
   * @param options.repeatable whether `work` changes nothing but the database and what may be forgotten at any time: it may
   *   then run twice, the first time in vain. Where none of a commit throws, that costs less; where one does, at most
   *   twice as much
   * @throws StorageUnavailable where the database stays locked or cannot be written
   */
  write<T>(work: () => T, options?: { repeatable?: boolean }): Promise<T>;
  /**
   * Has things that writes leave behind carried out together, once for each commit.
   * @param finish runs inside the transaction when its writes have run, with what those left that stand, in their order;
   *   where it throws, none of the writes stands
   * @returns leaves something for the end of the transaction; only for work that runs in {@link write}
   */
  gather<T>(finish: (left: readonly T[]) => void): (item: T) => void;
  /** Resolves when no write is left. */
  idle(): Promise<void>;
}

interface Job {
  run: () => unknown;
  repeatable: boolean;
  settle: (outcome: { value: unknown } | { error: unknown }) => void;
}

/** What writes of the running transaction left for its end. */
interface Gathering {
  left: unknown[];
  finish: (left: readonly unknown[]) => void;
}

/** How long writers wait for a lock that another process holds, and how often they look. */
const lockPatience = { totalMs: 5_000, pauseMs: 20 } as const;

/** After how long a commit waits for no further turn of the event loop where one write after the other arrives. */
const arrivalMs = 5;

function isLocked(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}

/** A full disk, a failing one, or a file that can no longer be written: nothing the caller did. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError && /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|CANTOPEN)/.test(error.code)
  );
}

function unavailable(cause: unknown): StorageUnavailable {
  return new StorageUnavailable('the database cannot be written at the moment', { cause });
}

/**
 * Creates the writer of a connection. A refresh under `synchronous=FULL` costs one wait for the disk; sixteen that
 * arrive together cost one as well.
 * @param db the only writing connection of this process
 * @param checkUsable throws StorageUnavailable where nothing may be written now, StorageFault where nothing ever may
 */
export function createWriter(db: Database.Database, checkUsable: () => void = () => undefined): Writer {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const save = db.prepare('SAVEPOINT job');
  const release = db.prepare('RELEASE job');
  const undo = db.prepare('ROLLBACK TO job');
  const queue: Job[] = [];
  const gatherings: Gathering[] = [];
  let flushing: Promise<void> | undefined;

  /** Some failures end the whole transaction; a savepoint would then begin one of its own and commit it. */
  function checkInTransaction(): void {
    if (!db.inTransaction) throw new Error('the transaction was rolled back');
  }

  function runJob(job: Job): () => void {
    checkInTransaction();
    save.run();
    const before = gatherings.map(({ left }) => left.length);
    try {
      const value = job.run();
      release.run();
      return () => job.settle({ value });
    } catch (error) {
      for (const [index, { left }] of gatherings.entries()) left.length = before[index] ?? 0;
      if (db.inTransaction) {
        undo.run();
        release.run();
      }
      return () => job.settle({ error: isOutage(error) ? unavailable(error) : error });
    }
  }

  /**
   * Runs jobs without a savepoint for each, for which SQLite would keep a copy of every page that a job changes.
   * @returns undefined where one of them threw, and nothing of any stands
   */
  function runTogether(jobs: readonly Job[]): (() => void)[] | undefined {
    try {
      return jobs.map((job) => {
        checkInTransaction();
        const value = job.run();
        return () => job.settle({ value });
      });
    } catch {
      undoAll();
      return undefined;
    }
  }

  function undoAll(): void {
    if (db.inTransaction) db.exec('ROLLBACK');
    for (const { left } of gatherings) left.length = 0;
  }

  function finishGatherings(): void {
    for (const { left, finish } of gatherings) if (left.length > 0) finish(left.splice(0));
  }

  /** @param deadline when to give up, by `performance.now()` */
  async function beginPatiently(deadline: number): Promise<void> {
    for (;;) {
      try {
        checkUsable();
        begin.run();
        return;
      } catch (error) {
        if (!isLocked(error) || performance.now() > deadline) throw error;
        await sleep(lockPatience.pauseMs);
      }
    }
  }

  /**
   * Waits until a whole turn of the event loop brings no further write: to share a commit costs less than to have one. What
   * is left of the turn in which the first one came is none: nothing is read from a connection in it.
   */
  async function untilArrived(): Promise<void> {
    const deadline = performance.now() + arrivalMs;
    for (let quietTurns = -1; quietTurns < 1 && performance.now() < deadline; ) {
      const before = queue.length;
      await new Promise((resolve) => setImmediate(resolve));
      quietTurns = queue.length > before ? 0 : quietTurns + 1;
    }
  }

  async function flush(): Promise<void> {
    while (queue.length > 0) {
      await untilArrived();
      const deadline = performance.now() + lockPatience.totalMs;
      let jobs: Job[] | undefined;
      try {
        await beginPatiently(deadline);
        jobs = queue.splice(0);
        let settlements = jobs.every(({ repeatable }) => repeatable) ? runTogether(jobs) : undefined;
        if (!settlements) {
          if (!db.inTransaction) await beginPatiently(deadline);
          settlements = jobs.map(runJob);
        }
        // Nothing was awaited since the run that counts began: nobody has read what is not durable.
        checkInTransaction();
        finishGatherings();
        commit.run();
        for (const settle of settlements) settle();
      } catch (cause) {
        undoAll();
        failAll(jobs ?? queue.splice(0), cause);
      }
    }
    // Here, and not in a later turn: whoever writes next in this very turn has to start the flush again.
    flushing = undefined;
  }

  function failAll(jobs: Job[], cause: unknown): void {
    const error = cause instanceof StorageFault ? cause : unavailable(cause);
    for (const job of jobs) job.settle({ error });
  }

  return {
    write<T>(work: () => T, { repeatable = false } = {}) {
      return new Promise<T>((resolve, reject) => {
        queue.push({
          run: work,
          repeatable,
          settle: (outcome) => ('error' in outcome ? reject(outcome.error) : resolve(outcome.value as T)),
        });
        flushing ??= flush();
      });
    },
    gather<T>(finish: (left: readonly T[]) => void) {
      const left: T[] = [];
      gatherings.push({ left, finish: finish as Gathering['finish'] });
      return (item: T) => void left.push(item);
    },
    async idle() {
      while (flushing) await flushing;
    },
  };
}
