import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** How a check came out: what does not fit, if anything; or that it could not be made. */
export type Checked = { problem?: string | undefined } | { unchecked: Unchecked };

type Unchecked = 'unusable' | 'too_long' | 'too_many';

/** What the thread says: that it is ready, or how a check came out. */
interface Said {
  isReady?: boolean;
  problem?: string;
  isUnusable?: boolean;
}

/** How long a check may take, in milliseconds; an ordinary one takes less than one. */
const patienceMs = 250;

/** Memory of the thread, in MB. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };

/** Most checks of one account that wait, and of all. */
const maxOfAccount = 8;
const maxWaiting = 1000;

interface Waiting {
  account: string;
  question: { schema: unknown; value: unknown };
  done(checked: Checked): void;
}

/**
 * Checks arguments by schemas that servers wrote, in a thread that is started when it is needed: neither a schema nor
 * an argument made to take long holds this process up, as the thread is ended with them.
 */
export class ArgumentChecks {
  readonly #waiting: Waiting[] = [];
  #thread: Worker | undefined;
  #isStarting = false;
  #current: { job: Waiting; timer: NodeJS.Timeout } | undefined;

  /** @param account whose arguments they are */
  check(account: string, schema: unknown, value: unknown): Promise<Checked> {
    const own = this.#waiting.filter((job) => job.account === account).length;
    if (own >= maxOfAccount || this.#waiting.length >= maxWaiting)
      return Promise.resolve({ unchecked: 'too_many' });
    return new Promise((done) => {
      this.#waiting.push({ account, question: { schema, value }, done });
      this.#next();
    });
  }

  /** Ends the thread; checks that wait come to no answer. */
  close(): void {
    const waiting = this.#waiting.splice(0);
    this.#end('too_many');
    for (const { done } of waiting) done({ unchecked: 'too_many' });
  }

  #next(): void {
    if (this.#current) return;
    const job = this.#waiting.shift();
    if (!job) return;
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

  /** What waited for the start of the thread has as long as any other from now. */
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
    job?.done(checked);
    this.#next();
  }
}

/** How long the first check of a thread may take, its start included, in milliseconds. */
const startMs = 5000;
