import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { StorageFault, StorageUnavailable } from '../../storage.ts';

/** Runs writes; concurrent ones share a commit. */
export interface Writer {
  /**
   * Runs `work` inside a transaction and resolves with its result once the commit is durable. If `work` throws, its own
   * changes are undone, other writes of the commit stand, and the call rejects with the error.
   * @param options.repeatable true if `work` changes nothing but the database and disposable caches: it may then run
   * twice, the first time in vain. That costs less if no write of a commit throws, and at most twice as much if one
   * does
   * @throws StorageUnavailable if the database stays locked or cannot be written
   */
  write<T>(work: () => T, options?: { repeatable?: boolean }): Promise<T>;
  /**
   * Registers a step that runs once per commit for items that its writes have left.
   * @param finish runs inside the transaction after its writes, with the items of successful writes, in order; if it
   * throws, all writes of the commit fail
   * @returns leaves an item for the end of the transaction; only for work that runs in {@link write}
   */
  gather<T>(finish: (left: readonly T[]) => void): (item: T) => void;
  /** Resolves when no write is pending. */
  idle(): Promise<void>;
}

interface Job {
  run: () => unknown;
  repeatable: boolean;
  settle: (outcome: { value: unknown } | { error: unknown }) => void;
}

/** Items that the writes of the running transaction left for its end. */
interface Gathering {
  left: unknown[];
  finish: (left: readonly unknown[]) => void;
}

/** Total wait for a lock that another process holds, and pause between attempts. */
const lockPatience = { totalMs: 5_000, pauseMs: 20 } as const;

/** Maximum wait for further writes of the same commit, in milliseconds. */
const arrivalMs = 5;

function isLocked(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}

/** Returns whether an error is a full disk, a failing one, or an unwritable file: not the caller's fault. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError && /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|CANTOPEN)/.test(error.code)
  );
}

function unavailable(cause: unknown): StorageUnavailable {
  return new StorageUnavailable('the database cannot be written at the moment', { cause });
}

/**
 * Creates the writer of a connection. A refresh under `synchronous=FULL` costs one wait for the disk; sixteen
 * concurrent ones also cost one.
 * @param db the only writing connection of this process
 * @param checkUsable throws StorageUnavailable if nothing may be written now, StorageFault if nothing ever may
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
   * Runs jobs without savepoints, for which SQLite would copy every page that a job changes.
   * @returns undefined if one of them threw, and all were undone
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

  /** @param deadline time to give up, by `performance.now()` */
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
   * Waits until a whole turn of the event loop brings no further write: sharing a commit costs less than a commit of
   * one's own. The rest of the turn of the first write does not count: no connection is read in it.
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
        // Nothing was awaited since the counted run began: nobody has read changes that are not durable.
        checkInTransaction();
        finishGatherings();
        commit.run();
        for (const settle of settlements) settle();
      } catch (cause) {
        undoAll();
        failAll(jobs ?? queue.splice(0), cause);
      }
    }
    // Reset here and not in a later turn: the next write of this very turn has to start the flush again.
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

/**
 * Creates an assertion that a file is still the one that was opened. SQLite goes on writing to a file that was removed
 * or replaced, and acknowledged writes would be lost at the next start (T-170).
 * @param file path of an open database
 * @returns throws StorageUnavailable if the file is missing or another one
 */
export function createSameFileAssertion(file: string): () => void {
  const opened = statSync(file);
  return () => {
    const now = statSync(file, { throwIfNoEntry: false });
    if (now?.ino !== opened.ino || now.dev !== opened.dev)
      throw new StorageUnavailable('the database file was moved or removed; put it back, or stop the server');
  };
}
