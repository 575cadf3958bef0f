import { InFlightMap } from './in-flight-map.ts';

/** The sizes of a {@link FairQueue}. */
export interface FairQueueLimits {
  /** Jobs that run at once. */
  running: number;
  /** Jobs that wait behind them. */
  waiting: number;
  /** The most that one caller may have of each. */
  perCaller: { running: number; waiting: number };
}

/** A job found no place, or lost its place to a caller with fewer jobs. */
export class FairQueueFull extends Error {
  override name = 'FairQueueFull';
}

/** A caller with at least one job. */
interface Caller {
  running: number;
  waiting: number;
  /** The round in which the next job of the caller is due. */
  nextRound: number;
}

/** A job that waits. */
interface Job {
  callers: readonly string[];
  round: number;
  start: () => void;
  refuse: () => void;
}

/**
 * A bounded queue that serves its callers in turns, so that the crowd of one caller delays and displaces no other caller
 * (T-158, T-206).
 *
 * A job names each caller that it counts for, such as an address and an account. Jobs run by rounds. Each round has at most
 * one job of a caller, and a new caller starts in the round that runs at the moment (start-time fair queuing). If all places
 * are taken, a job of an earlier round takes the place of the job that is due last: a caller with few jobs always finds room.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #callers = new InFlightMap<string, Caller>();
  /** Ordered by round, and by arrival within a round. */
  readonly #jobs: Job[] = [];
  #running = 0;
  /** The round of the job that started last. */
  #round = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** The number of jobs that run. */
  get running(): number {
    return this.#running;
  }

  /** The number of jobs that wait. */
  get waiting(): number {
    return this.#jobs.length;
  }

  /**
   * Starts a job, at once if there is room.
   * @param callers each caller that the job counts for
   * @param start is called when the job may run; the job calls {@link leave} at its end
   * @param refuse is called in place of `start` if the job waits and then loses its place
   * @returns false if there is no place: neither function is ever called
   */
  enter(callers: readonly string[], start: () => void, refuse: () => void): boolean {
    if (this.#running < this.#limits.running && this.#mayRun(callers)) {
      this.#run(callers, this.#dueRound(callers));
      start();
      return true;
    }
    const { perCaller, waiting } = this.#limits;
    if (callers.some((caller) => (this.#callers.get(caller)?.waiting ?? 0) >= perCaller.waiting))
      return false;
    const round = this.#dueRound(callers);
    if (this.#jobs.length >= waiting && !this.#displace(round)) return false;
    const after = this.#jobs.findLastIndex((job) => job.round <= round);
    this.#jobs.splice(after + 1, 0, { callers, round, start, refuse });
    for (const name of callers) {
      const caller = this.#callerOf(name);
      caller.waiting++;
      caller.nextRound = round + 1;
    }
    return true;
  }

  /** Starts a job if there is room now. @returns whether it runs; its holder then calls {@link leave} at its end */
  tryEnter(callers: readonly string[]): boolean {
    if (this.#running >= this.#limits.running || !this.#mayRun(callers)) return false;
    this.#run(callers, this.#dueRound(callers));
    return true;
  }

  /** Ends a job that ran. @param callers the same as at its start */
  leave(callers: readonly string[]): void {
    this.#running--;
    for (const name of callers) {
      this.#callerOf(name).running--;
      this.#forgetIdle(name);
    }
    if (this.#jobs.length > 0) this.#startNext();
  }

  /** Refuses all jobs that wait. */
  refuseWaiting(): void {
    while (this.#displace(-1));
  }

  /**
   * Runs a piece of work as a job.
   * @throws FairQueueFull
   */
  async run<Result>(callers: readonly string[], work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((resolve, reject) => {
      const refuse = (): void => reject(new FairQueueFull('no place in the queue'));
      if (!this.enter(callers, resolve, refuse)) refuse();
    });
    try {
      return await work();
    } finally {
      this.leave(callers);
    }
  }

  #mayRun(callers: readonly string[]): boolean {
    const most = this.#limits.perCaller.running;
    return callers.every((caller) => (this.#callers.get(caller)?.running ?? 0) < most);
  }

  #dueRound(callers: readonly string[]): number {
    return callers.reduce(
      (round, name) => Math.max(round, this.#callers.get(name)?.nextRound ?? 0),
      this.#round,
    );
  }

  #callerOf(name: string): Caller {
    const known = this.#callers.get(name);
    if (known) return known;
    const caller = { running: 0, waiting: 0, nextRound: this.#round };
    this.#callers.set(name, caller);
    return caller;
  }

  #forgetIdle(name: string): void {
    const caller = this.#callers.get(name);
    if (caller?.running === 0 && caller.waiting === 0) this.#callers.delete(name);
  }

  #run(callers: readonly string[], round: number): void {
    this.#running++;
    this.#round = Math.max(this.#round, round);
    for (const name of callers) {
      const caller = this.#callerOf(name);
      caller.running++;
      caller.nextRound = Math.max(caller.nextRound, round + 1);
    }
  }

  #startNext(): void {
    while (this.#running < this.#limits.running) {
      const at = this.#jobs.findIndex(({ callers }) => this.#mayRun(callers));
      const [job] = at < 0 ? [] : this.#jobs.splice(at, 1);
      if (!job) return;
      this.#run(job.callers, job.round);
      for (const name of job.callers) this.#callerOf(name).waiting--;
      job.start();
    }
  }

  /** Rejects the last job, if its round is later than this one. @returns true if a place is free now */
  #displace(round: number): boolean {
    const last = this.#jobs.at(-1);
    if (!last || last.round <= round) return false;
    this.#jobs.pop();
    for (const name of last.callers) {
      const caller = this.#callerOf(name);
      caller.waiting--;
      if (caller.nextRound === last.round + 1) caller.nextRound = last.round;
      this.#forgetIdle(name);
    }
    last.refuse();
    return true;
  }
}

/** Runs work of the same key one after the other, whatever the outcome of earlier work. */
export type KeyedQueue = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Creates a queue per key: one job at a time per key, in order of arrival; keys do not block each other. */
export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    return mine.finally(() => {
      if (last.get(key) === mine) last.delete(key);
    });
  };
}
