// A thread of its own for the call ledger: neither batches nor reports hold up the thread that serves.
import { parentPort, workerData } from 'node:worker_threads';
import { createCallStore } from './calls.ts';
import type { CallQuestion } from './calls-in-thread.ts';

const keys = { audit: '' };
const store = createCallStore(workerData as string, keys);

parentPort?.on('message', async ({ id, audit, method, values }: CallQuestion) => {
  keys.audit = audit;
  const work = store[method] as (...values: readonly unknown[]) => Promise<unknown>;
  try {
    parentPort?.postMessage({ id, result: await work(...values) });
  } catch (error) {
    parentPort?.postMessage({ id, error });
  }
});
