import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { StorageUnavailable } from '../storage.ts';

/** Runs writes; those that arrive together share one commit. */
export interface Writer {
  /**
   * Runs `work` inside a transaction and resolves with what it gives once the commit is durable. Where `work`
   * throws, its own changes are undone, those that share the commit stand, and the call rejects with the same error.
   * @throws StorageUnavailable where the database stays locked or cannot be written
   */
  write<T>(work: () => T): Promise<T>;
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
 * @param checkUsable throws StorageUnavailable where nothing may be written now
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

  function finishGatherings(): void {
    for (const { left, finish } of gatherings) if (left.length > 0) finish(left.splice(0));
  }

  async function beginPatiently(): Promise<void> {
    const deadline = performance.now() + lockPatience.totalMs;
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

  /** Waits while each turn of the event loop brings further writes: to share a commit costs less than to have one. */
  async function untilArrived(): Promise<void> {
    const deadline = performance.now() + arrivalMs;
    for (let seen = 0; queue.length > seen && performance.now() < deadline; ) {
      seen = queue.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function flush(): Promise<void> {
    while (queue.length > 0) {
      await untilArrived();
      try {
        await beginPatiently();
      } catch (cause) {
        failAll(queue.splice(0), cause);
        continue;
      }
      const jobs = queue.splice(0);
      try {
        const settlements = jobs.map(runJob);
        checkInTransaction();
        finishGatherings();
        commit.run();
        for (const settle of settlements) settle();
      } catch (cause) {
        if (db.inTransaction) db.exec('ROLLBACK');
        for (const { left } of gatherings) left.length = 0;
        failAll(jobs, cause);
      }
    }
    // Here, and not in a later turn: whoever writes next in this very turn has to start the flush again.
    flushing = undefined;
  }

  function failAll(jobs: Job[], cause: unknown): void {
    const error = unavailable(cause);
    for (const job of jobs) job.settle({ error });
  }

  return {
    write<T>(work: () => T) {
      return new Promise<T>((resolve, reject) => {
        queue.push({
          run: work,
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
