import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StorageUnavailable } from '../../storage.ts';
import type { ChangeMarks, Mark } from './change-marks.ts';
import {
  type ConnectionOptions,
  createStatements,
  driverOptions,
  type Statements,
  type Value,
} from './database.ts';
import { CommitUnknown, isBeyondProgram, isOutage, ProgramTooOld, toUnavailable } from './errors.ts';
import { programSchema } from './schema.ts';

/** Statements of a transaction that writes. All are sent at once, without waiting for the one before. */
export interface Transaction extends Statements {
  /** Sends a statement whose result nobody needs; the transaction fails with it. */
  send(sql: string, values?: readonly Value[]): void;
}

/** Runs writes; concurrent ones share a commit. */
export interface Writer {
  /**
   * Runs `work` in a transaction and resolves with its result once the commit is durable. No other write of any node
   * runs meanwhile: what `work` has read stays true until it ends. If `work` throws, its own changes are undone, other
   * writes of the commit stand, and the call rejects with the error.
   * @param options.inOneFlight true if `work` sends all its statements before it awaits the first: then those of one
   * commit go to the server together. If one of them throws, each runs a second time by itself
   * @throws StorageUnavailable if the database stays locked or cannot be written
   */
  write<T>(work: (tx: Transaction) => Promise<T>, options?: { inOneFlight?: boolean }): Promise<T>;
  /**
   * Registers a step that runs once per commit for items that its writes have left.
   * @returns leaves an item for the end of the transaction; only for work that runs in {@link write}
   */
  gather<T, Read>(step: GatheredStep<T, Read>): (item: T) => void;
  /** Finishes pending writes and closes the connection. */
  close(): Promise<void>;
}

/** A step at the end of a transaction. */
export interface GatheredStep<T, Read> {
  /** Reads what the step needs; sent with the first statements of a transaction whose writes run in one flight. */
  read: (tx: Transaction) => Promise<Read>;
  /** Runs after the writes, with the items of successful ones, in order; if it throws, all writes of the commit fail. */
  finish: (tx: Transaction, left: readonly T[], read: Read) => void | Promise<void>;
}

interface Job {
  run: (tx: Transaction) => Promise<unknown>;
  inOneFlight: boolean;
  settle: (outcome: { value: unknown } | { error: unknown }) => void;
}

/** Items that the writes of the running transaction left for its end. */
interface Gathering extends GatheredStep<unknown, unknown> {
  left: unknown[];
}

/** Maximum number of writes in one transaction. */
const maxJobs = 100;

/** Maximum wait for further writes of the same commit, in milliseconds. */
const arrivalMs = 5;

/** Time for which a server may say nothing, in milliseconds, longer than it may take for a statement: then the connection counts as lost. */
const silenceMs = 12_000;

/** Time in which a lost connection is replaced, and pause between attempts. */
const reconnecting = { totalMs: 5_000, pauseMs: 50 } as const;

/**
 * Begins a transaction and waits for its turn among all nodes. A node that stalls in its transaction loses it after two
 * seconds, as everybody else waits for it. It fails if the database was upgraded beyond this program.
 */
const begin = `BEGIN; SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '10s';
  SET LOCAL idle_in_transaction_session_timeout = '2s';
  UPDATE commit_order SET commits = commits + 1, schema = ${programSchema()}`;

/** A connection that writes, with the statements of the transaction that runs on it. */
interface Connection {
  client: pg.Client;
  tx: Transaction;
  /** Resolves once the statements sent without their result have succeeded. */
  untilSent: () => Promise<void>;
  isLost: boolean;
}

/** Thrown if a COMMIT was sent and its answer was lost. */
class OutcomeUnknown extends Error {}

/**
 * Creates the writer of a node, with a connection of its own. Each transaction first takes the one row of
 * `commit_order`, so that writes are serial over all nodes, as SQLite has them: caps, last ways in and the chain of the
 * audit log need no locks of their own, and nothing deadlocks. What arrives while a transaction runs shares the next.
 */
export function createWriter(options: ConnectionOptions, marks: ChangeMarks): Writer {
  /** Names this writer in `commit_marks`. */
  const name = randomUUID();
  let batch = 0;
  let current: Connection | undefined;
  let flushing: Promise<void> | undefined;
  const queue: Job[] = [];
  const gatherings: Gathering[] = [];

  async function connect(): Promise<Connection> {
    if (current && !current.isLost) return current;
    const client = new pg.Client({
      ...driverOptions(options),
      pipeline: true,
      query_timeout: silenceMs,
    } as pg.ClientConfig);
    const connection = toConnection(client, options);
    client.on('error', () => {
      connection.isLost = true;
    });
    client.on('end', () => {
      connection.isLost = true;
    });
    await client.connect();
    current = connection;
    return connection;
  }

  /** @param deadline time to give up, by `performance.now()` */
  async function connectPatiently(deadline: number): Promise<Connection> {
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        if (!isOutage(error) || performance.now() > deadline) throw error;
        await sleep(reconnecting.pauseMs);
      }
    }
  }

  function drop(connection: Connection): void {
    connection.isLost = true;
    void connection.client.end().catch(() => undefined);
  }

  async function rollBack(connection: Connection): Promise<void> {
    for (const gathering of gatherings) gathering.left = [];
    await connection.untilSent().catch(() => undefined);
    await connection.client.query('ROLLBACK').catch(() => drop(connection));
  }

  /**
   * Runs jobs in one flight.
   * @returns undefined if one of them threw, and all were undone
   */
  async function runTogether(
    connection: Connection,
    jobs: readonly Job[],
  ): Promise<{ settlements: (() => void)[]; read: unknown[] } | undefined> {
    const { client, tx } = connection;
    const begun = client.query(begin);
    const reads = gatherings.map(({ read }) => read(tx));
    const runs = jobs.map((job) => job.run(tx));
    const [beginning, ...outcomes] = await Promise.allSettled([begun, ...reads, ...runs]);
    const sent = await Promise.allSettled([connection.untilSent()]);
    if (beginning.status === 'rejected') throw beginning.reason;
    if ([...outcomes, ...sent].some(({ status }) => status === 'rejected')) {
      await rollBack(connection);
      return undefined;
    }
    const values = outcomes.map((outcome) => (outcome as PromiseFulfilledResult<unknown>).value);
    return {
      read: values.slice(0, gatherings.length),
      settlements: jobs.map((job, index) => () => job.settle({ value: values[gatherings.length + index] })),
    };
  }

  async function runJob(connection: Connection, job: Job): Promise<() => void> {
    const { client, tx } = connection;
    const before = gatherings.map(({ left }) => left.length);
    const saved = client.query('SAVEPOINT job');
    saved.catch(() => undefined);
    try {
      const value = await job.run(tx);
      await saved;
      await connection.untilSent();
      await client.query('RELEASE job');
      return () => job.settle({ value });
    } catch (error) {
      for (const [index, { left }] of gatherings.entries()) left.length = before[index] ?? 0;
      await connection.untilSent().catch(() => undefined);
      await saved;
      await client.query('ROLLBACK TO job; RELEASE job');
      return () => job.settle({ error: toUnavailable(error, 'written') });
    }
  }

  async function runOneByOne(connection: Connection, jobs: readonly Job[]): Promise<(() => void)[]> {
    await connection.client.query(begin);
    const settlements: (() => void)[] = [];
    for (const job of jobs) settlements.push(await runJob(connection, job));
    return settlements;
  }

  async function finishGatherings({ tx }: Connection, read: readonly unknown[]): Promise<void> {
    for (const [index, gathering] of gatherings.entries()) {
      const left = gathering.left;
      if (left.length === 0) continue;
      gathering.left = [];
      await gathering.finish(tx, left, read[index] ?? (await gathering.read(tx)));
    }
  }

  /** Commits with a mark, by which the commit is found if its answer is lost. */
  async function commit(connection: Connection): Promise<void> {
    const { client, tx } = connection;
    tx.send(
      `INSERT INTO commit_marks (writer, batch) VALUES ($1, $2)
       ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, at = clock_timestamp()`,
      [name, batch],
    );
    const seen = tx.rows<Mark>('SELECT name, changes FROM change_marks');
    const committed = client.query('COMMIT');
    const [sent, marked, ended] = await Promise.allSettled([connection.untilSent(), seen, committed]);
    if (ended.status === 'rejected') throw new OutcomeUnknown('', { cause: ended.reason });
    // The server answers the COMMIT of a failed transaction with ROLLBACK.
    for (const outcome of [sent, marked]) if (outcome.status === 'rejected') throw outcome.reason;
    if (ended.value.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    if (marked.status === 'fulfilled') marks.note(marked.value);
  }

  /**
   * Returns whether the last batch was committed, after its answer was lost: the next turn comes only once that
   * transaction has ended.
   * @throws StorageUnavailable if the database cannot say in time
   */
  async function wasCommitted(): Promise<boolean> {
    const deadline = performance.now() + reconnecting.totalMs;
    for (;;) {
      try {
        const connection = await connectPatiently(deadline);
        const begun = connection.client.query(begin);
        const found = connection.tx.row<{ batch: number }>(
          'SELECT batch FROM commit_marks WHERE writer = $1',
          [name],
        );
        const [, mark] = await Promise.all([begun, found]);
        await rollBack(connection);
        return mark?.batch === batch;
      } catch (cause) {
        if (current) drop(current);
        if (performance.now() > deadline) throw new CommitUnknown({ cause });
        await sleep(reconnecting.pauseMs);
      }
    }
  }

  async function attempt(jobs: readonly Job[]): Promise<(() => void)[]> {
    const connection = await connectPatiently(performance.now() + reconnecting.totalMs);
    try {
      let together = jobs.every(({ inOneFlight }) => inOneFlight)
        ? await runTogether(connection, jobs)
        : undefined;
      together ??= { settlements: await runOneByOne(connection, jobs), read: [] };
      await finishGatherings(connection, together.read);
      await commit(connection).catch(async (error: unknown) => {
        if (!(error instanceof OutcomeUnknown)) throw error;
        drop(connection);
        if (!(await wasCommitted())) throw error.cause;
      });
      return together.settlements;
    } catch (error) {
      if (!connection.isLost) await rollBack(connection);
      throw error;
    }
  }

  /** Waits until a whole turn of the event loop brings no further write: sharing a commit costs less than a commit of one's own. */
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
      const jobs = queue.splice(0, maxJobs);
      batch++;
      try {
        for (const settle of await attempt(jobs)) settle();
      } catch (cause) {
        for (const gathering of gatherings) gathering.left = [];
        const error = isBeyondProgram(cause)
          ? new ProgramTooOld({ cause })
          : new StorageUnavailable('the database cannot be written at the moment', { cause });
        // What waits would fail as well, one lot after the other, long after its callers are gone.
        const waiting = !current || current.isLost ? queue.splice(0) : [];
        for (const job of [...jobs, ...waiting])
          job.settle({ error: cause instanceof StorageUnavailable ? cause : error });
      }
    }
    // Reset here and not in a later turn: the next write of this very turn has to start the flush again.
    flushing = undefined;
  }

  return {
    write<T>(work: (tx: Transaction) => Promise<T>, { inOneFlight = false } = {}) {
      return new Promise<T>((resolve, reject) => {
        queue.push({
          run: work,
          inOneFlight,
          settle: (outcome) => ('error' in outcome ? reject(outcome.error) : resolve(outcome.value as T)),
        });
        flushing ??= flush();
      });
    },
    gather<T, Read>({ read, finish }: GatheredStep<T, Read>) {
      const gathering: Gathering = { read, finish: finish as Gathering['finish'], left: [] };
      gatherings.push(gathering);
      return (item: T) => void gathering.left.push(item);
    },
    async close() {
      while (flushing) await flushing;
      await current?.client.end();
    },
  };
}

/**
 * Creates a writer whose writes are all part of one transaction, which the caller has begun and commits. It has no time
 * limits of its own.
 */
export function createWriterWithin(client: pg.Client): Pick<Writer, 'write' | 'gather'> {
  const { tx, untilSent } = toConnection(client, { pooled: true });
  const gatherings: Gathering[] = [];
  return {
    async write(work) {
      const result = await work(tx);
      for (const { left, read, finish } of gatherings) {
        const items = left.splice(0);
        if (items.length > 0) await finish(tx, items, await read(tx));
      }
      await untilSent();
      return result;
    },
    gather<T, Read>({ read, finish }: GatheredStep<T, Read>) {
      const gathering: Gathering = { read, finish: finish as Gathering['finish'], left: [] };
      gatherings.push(gathering);
      return (item: T) => void gathering.left.push(item);
    },
  };
}

/** A statement that nobody awaits any more, because one before it failed, fails with it. */
function handled<T>(result: Promise<T>): Promise<T> {
  result.catch(() => undefined);
  return result;
}

function toConnection(client: pg.Client, options: Pick<ConnectionOptions, 'pooled'>): Connection {
  let sent: Promise<unknown>[] = [];
  const statements = createStatements(client, options);
  return {
    client,
    isLost: false,
    tx: {
      rows: (...args) => handled(statements.rows(...args)),
      row: (...args) => handled(statements.row(...args)),
      run: (...args) => handled(statements.run(...args)),
      send(sql, values) {
        const result = statements.run(sql, values);
        result.catch(() => undefined);
        sent.push(result);
      },
    },
    async untilSent() {
      const results = sent;
      sent = [];
      await Promise.all(results);
    },
  };
}
