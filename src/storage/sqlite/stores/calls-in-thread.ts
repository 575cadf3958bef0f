import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { digestCalls } from '../../../crypto/call-chain.ts';
import {
  type CallBatch,
  type CallSeal,
  type CallStore,
  chainedValues,
  findSeal,
  toStorable,
} from '../../calls.ts';
import { StorageUnavailable } from '../../storage.ts';

/** A request to the thread: a method of the store, with its arguments. */
export interface LedgerRequest {
  id: number;
  /** The present key that authenticates the batches. */
  audit: string;
  method: keyof CallStore;
  values: readonly unknown[];
}

/** A response of the thread. */
export interface LedgerResponse {
  id: number;
  result?: unknown;
  /** The error; `code` is that of its cause. */
  fault?: { message: string; cause: unknown; code: unknown };
}

/** The thread ended before its response: it is not known whether the batch was stored. */
class ThreadEnded extends StorageUnavailable {}

/**
 * Creates the call ledger in a SQLite file of its own, in a thread that starts at first use.
 * @param file see {@link createCallStore}
 * @param keys holds the key that authenticates the batches; read for each request
 * @param program of the thread; it stands beside this code, in src/ and in the build
 */
export function createCallStoreInThread(
  file: string,
  keys: { readonly audit: string },
  program = new URL(`./call-thread${extname(import.meta.url)}`, import.meta.url),
): CallStore {
  let thread: LedgerThread | undefined;

  const send = async <Method extends keyof CallStore>(
    method: Method,
    ...values: Parameters<CallStore[Method]>
  ): Promise<Awaited<ReturnType<CallStore[Method]>>> => {
    if (!thread || thread.hasEnded) thread = startThread(program, file);
    return (await thread.send(keys.audit, method, values)) as Awaited<ReturnType<CallStore[Method]>>;
  };

  const seals: CallStore['seals'] = (...values) => send('seals', ...values);

  /** Batches that may be stored, each with the number of a batch before it. */
  const undecided = new WeakMap<CallBatch, number>();
  let newest = 0;

  const findStored = async (batch: CallBatch, afterBatch: number): Promise<CallSeal | undefined> => {
    const { head } = await send('ends');
    // Batches begin again in a new file.
    const after = (head?.batch ?? 0) < afterBatch ? 0 : afterBatch;
    return findSeal(seals, after, (seal) => isSealOf(seal, batch));
  };

  const append = async (batch: CallBatch, ...values: [number, boolean]): Promise<CallSeal> => {
    try {
      return await send('append', batch, ...values);
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
    list: (...values) => send('list', ...values),
    read: (...values) => send('read', ...values),
    readNext: (...values) => send('readNext', ...values),
    count: (...values) => send('count', ...values),
    hours: (...values) => send('hours', ...values),
    seals,
    ends: () => send('ends'),
    prune: (...values) => send('prune', ...values),
    beat: (...values) => send('beat', ...values),
    leave: (...values) => send('leave', ...values),
    recordEnd: (...values) => send('recordEnd', ...values),
    async close() {
      const open = thread;
      thread = undefined;
      await open?.close(keys.audit);
    },
  };
}

/** @throws StorageUnavailable if this process may have no thread */
function startThread(program: URL, file: string): LedgerThread {
  try {
    return new LedgerThread(program, file);
  } catch (cause) {
    throw new StorageUnavailable('the thread of the call ledger cannot be started', { cause });
  }
}

/** A running thread and its pending requests. An idle thread does not keep the process alive. */
class LedgerThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>>();
  #sent = 0;
  hasEnded = false;

  constructor(program: URL, file: string) {
    this.#worker = new Worker(program, { workerData: file, env: {}, execArgv: [] });
    this.#worker.on('message', (response: LedgerResponse) => this.#settle(response));
    this.#worker.on('messageerror', () => void this.#worker.terminate());
    this.#worker.on('error', (cause) => this.#end(cause));
    this.#worker.on('exit', () => this.#end());
    this.#worker.unref();
  }

  send(audit: string, method: keyof CallStore, values: readonly unknown[]): Promise<unknown> {
    const id = ++this.#sent;
    this.#worker.postMessage({ id, audit, method, values } satisfies LedgerRequest);
    this.#worker.ref();
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  /** Closes the file, and ends the thread. */
  async close(audit: string): Promise<void> {
    try {
      if (!this.hasEnded) await this.send(audit, 'close', []);
    } finally {
      await this.#worker.terminate();
    }
  }

  #settle({ id, result, fault }: LedgerResponse): void {
    const request = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker.unref();
    if (fault) request?.reject(toError(fault));
    else request?.resolve(result);
  }

  #end(cause?: Error): void {
    this.hasEnded = true;
    for (const { reject } of this.#pending.values())
      reject(new ThreadEnded('the thread of the call ledger has ended', { cause }));
    this.#pending.clear();
  }
}

function toError({ message, cause, code }: NonNullable<LedgerResponse['fault']>): StorageUnavailable {
  return new StorageUnavailable(message, {
    cause: cause instanceof Error ? Object.assign(cause, { code }) : cause,
  });
}

/** Returns whether a seal is of a batch: its digest covers each of the calls, and their positions. */
function isSealOf({ lastSeq, digest, ...seal }: CallSeal, { calls, lost }: CallBatch): boolean {
  if (seal.calls !== calls.length || seal.lost !== lost || seal.gap !== null) return false;
  const first = lastSeq - calls.length + 1;
  return (
    digest === digestCalls(calls.map((call, at) => chainedValues({ ...toStorable(call), seq: first + at })))
  );
}
