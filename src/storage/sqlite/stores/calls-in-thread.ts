import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { digestCalls } from '../../../crypto/call-chain.ts';
import { type CallBatch, type CallSeal, type CallStore, chainedValues, toStorable } from '../../calls.ts';
import { StorageUnavailable } from '../../storage.ts';

/** A question to the thread: a method of the store, with its arguments. */
export interface CallQuestion {
  id: number;
  /** The present key that authenticates the batches. */
  audit: string;
  method: keyof CallStore;
  values: readonly unknown[];
}

/** An answer of the thread. */
interface CallAnswer {
  id: number;
  result?: unknown;
  error?: Error;
}

/** The thread ended before its answer: it is not known whether the batch was stored. */
class ThreadEnded extends StorageUnavailable {}

/** Seals that are read at once. */
const pageSize = 500;

/**
 * Creates the call ledger in a SQLite file of its own, in a thread that starts at first use.
 * @param file see {@link createCallStore}
 * @param keys holds the key that authenticates the batches; read for each question
 * @param program of the thread; it stands beside this code, in src/ and in the build
 */
export function createCallStoreInThread(
  file: string,
  keys: { readonly audit: string },
  program = new URL(`./call-thread${extname(import.meta.url)}`, import.meta.url),
): CallStore {
  let thread: CallThread | undefined;

  const ask = <Method extends keyof CallStore>(
    method: Method,
    ...values: Parameters<CallStore[Method]>
  ): ReturnType<CallStore[Method]> => {
    if (!thread || thread.hasEnded) thread = new CallThread(program, file);
    return thread.ask(keys.audit, method, values) as ReturnType<CallStore[Method]>;
  };

  /** Batches that may be stored, each with the number of a batch before it. */
  const undecided = new WeakMap<CallBatch, number>();
  let newest = 0;

  const findStored = async (batch: CallBatch, afterBatch: number): Promise<CallSeal | undefined> => {
    for (let after = afterBatch; ; ) {
      const page = await ask('seals', after, pageSize);
      const found = page.find((seal) => isSealOf(seal, batch));
      const last = page.at(-1);
      if (found || !last) return found;
      after = last.batch;
    }
  };

  const append = async (batch: CallBatch, ...values: [number, boolean]): Promise<CallSeal> => {
    try {
      return await ask('append', batch, ...values);
    } catch (error) {
      if (error instanceof ThreadEnded) undecided.set(batch, newest);
      throw error;
    }
  };

  return {
    async append(batch, nowMs, isDurable) {
      const after = undecided.get(batch);
      const stored = after === undefined ? undefined : await findStored(batch, after);
      undecided.delete(batch);
      const seal = stored ?? (await append(batch, nowMs, isDurable));
      newest = seal.batch;
      return seal;
    },
    list: (...values) => ask('list', ...values),
    read: (...values) => ask('read', ...values),
    readNext: (...values) => ask('readNext', ...values),
    count: (...values) => ask('count', ...values),
    hours: (...values) => ask('hours', ...values),
    seals: (...values) => ask('seals', ...values),
    ends: () => ask('ends'),
    prune: (...values) => ask('prune', ...values),
    beat: (...values) => ask('beat', ...values),
    leave: (...values) => ask('leave', ...values),
    async close() {
      const open = thread;
      thread = undefined;
      await open?.close(keys.audit);
    },
  };
}

/** A running thread and the questions that it has not answered. The process does not wait for one without questions. */
class CallThread {
  readonly #worker: Worker;
  readonly #unanswered = new Map<number, Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>>();
  #asked = 0;
  hasEnded = false;

  constructor(program: URL, file: string) {
    this.#worker = new Worker(program, { workerData: file, env: {}, execArgv: [] });
    this.#worker.on('message', (answer: CallAnswer) => this.#settle(answer));
    this.#worker.on('error', (cause) => this.#end(cause));
    this.#worker.on('exit', () => this.#end());
    this.#worker.unref();
  }

  ask(audit: string, method: keyof CallStore, values: readonly unknown[]): Promise<unknown> {
    const id = ++this.#asked;
    const { promise, resolve, reject } = Promise.withResolvers();
    this.#unanswered.set(id, { resolve, reject });
    this.#worker.ref();
    this.#worker.postMessage({ id, audit, method, values } satisfies CallQuestion);
    return promise;
  }

  /** Closes the file, and ends the thread. */
  async close(audit: string): Promise<void> {
    if (!this.hasEnded) await this.ask(audit, 'close', []);
    await this.#worker.terminate();
  }

  #settle({ id, result, error }: CallAnswer): void {
    const asked = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    if (this.#unanswered.size === 0) this.#worker.unref();
    if (error) asked?.reject(new StorageUnavailable(error.message, { cause: error.cause }));
    else asked?.resolve(result);
  }

  #end(cause?: Error): void {
    this.hasEnded = true;
    for (const { reject } of this.#unanswered.values())
      reject(new ThreadEnded('the thread of the call ledger has ended', { cause }));
    this.#unanswered.clear();
  }
}

/** Returns whether a seal is of a batch: its digest covers each of the calls, and their positions. */
function isSealOf({ lastSeq, digest, ...seal }: CallSeal, { calls, lost, gap }: CallBatch): boolean {
  if (seal.calls !== calls.length || seal.lost !== lost || seal.gap !== gap) return false;
  const first = lastSeq - calls.length + 1;
  return (
    digest === digestCalls(calls.map((call, at) => chainedValues({ ...toStorable(call), seq: first + at })))
  );
}
