import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../collections/fair-queue.ts';

/** Result of a check: the fault, if any; or that the check was not possible. */
export type Checked = { problem?: string | undefined } | { unchecked: Unchecked };

type Unchecked = 'unusable' | 'too_long' | 'too_many';

/** Message of the thread: it is ready, or the result of a check. */
interface Said {
  isReady?: boolean;
  problem?: string;
  isUnusable?: boolean;
}

/** Milliseconds that a check may take; an ordinary one takes less than one. */
const patienceMs = 250;

/** Memory of the thread, in MB. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };

/** One check runs at a time. */
const limits = { running: 1, waiting: 1000, perCaller: { running: 1, waiting: 8 } } as const;

interface Job {
  account: string;
  question: { schema: unknown; value: unknown };
  done(checked: Checked): void;
}

/**
 * Checks arguments by schemas that servers wrote, in a thread that is started when it is needed: neither a schema nor
 * an argument made to take long holds this process up, as the thread is ended with them. Accounts are served in turns, so
 * the slow checks of one account delay those of another by one check at most (T-206).
 */
export class ArgumentChecks {
  readonly #queue = new FairQueue(limits);
  #thread: Worker | undefined;
  #isStarting = false;
  #current: { job: Job; timer: NodeJS.Timeout } | undefined;

  /** @param account whose arguments they are */
  check(account: string, schema: unknown, value: unknown): Promise<Checked> {
    return new Promise((done) => {
      const start = (): void => this.#ask({ account, question: { schema, value }, done });
      const refuse = (): void => done({ unchecked: 'too_many' });
      if (!this.#queue.enter([account], start, refuse)) refuse();
    });
  }

  /** Ends the thread; checks that wait come to no answer. */
  close(): void {
    this.#queue.refuseWaiting();
    this.#end('too_many');
  }

  #ask(job: Job): void {
    const thread = this.#thread ?? this.#start();
    this.#thread = thread;
    thread.ref();
    this.#current = { job, timer: this.#limit(this.#isStarting ? startMs : patienceMs) };
    try {
      thread.postMessage(job.question);
    } catch {
      // What cannot be handed to a thread.
      this.#finish({ unchecked: 'unusable' });
    }
  }

  #limit(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#end('too_long'), ms);
  }

  #start(): Worker {
    // The name of this file ends as that of the thread does: they are built together.
    const file = new URL(`./argument-thread${extname(import.meta.url)}`, import.meta.url);
    const thread = new Worker(file, { resourceLimits, env: {}, execArgv: [] });
    this.#isStarting = true;
    thread.on('message', (said: Said) => {
      if (this.#thread !== thread) return;
      if (said.isReady) this.#ready();
      else this.#finish(said.isUnusable ? { unchecked: 'unusable' } : { problem: said.problem });
    });
    thread.on('error', () => {
      if (this.#thread === thread) this.#end('unusable');
    });
    thread.unref();
    return thread;
  }

  /** Checks that waited for the start of the thread get their full time from now. */
  #ready(): void {
    this.#isStarting = false;
    if (!this.#current) return;
    clearTimeout(this.#current.timer);
    this.#current.timer = this.#limit(patienceMs);
  }

  #end(unchecked: Unchecked): void {
    void this.#thread?.terminate();
    this.#thread = undefined;
    this.#isStarting = false;
    this.#finish({ unchecked });
  }

  #finish(checked: Checked): void {
    const { job, timer } = this.#current ?? {};
    this.#current = undefined;
    clearTimeout(timer);
    this.#thread?.unref();
    if (!job) return;
    job.done(checked);
    this.#queue.leave([job.account]);
  }
}

/** Milliseconds that the first check of a thread may take, including its start. */
const startMs = 5000;
