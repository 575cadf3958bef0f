// A thread of its own for the call ledger: neither batches nor reports hold up the thread that serves.
import { parentPort, workerData } from 'node:worker_threads';
import { createCallStore } from './calls.ts';
import type { LedgerRequest, LedgerResponse } from './calls-in-thread.ts';

const keys = { audit: '' };
const store = createCallStore(workerData as string, keys);

/** Runs a request. A copied error has no code, so the code is sent beside the error. */
async function respond({ id, audit, method, values }: LedgerRequest): Promise<LedgerResponse> {
  keys.audit = audit;
  const work = store[method] as (...values: readonly unknown[]) => Promise<unknown>;
  try {
    return { id, result: await work(...values) };
  } catch (error) {
    const { message, cause } = error as Error;
    const { code } = Object(cause) as { code?: unknown };
    return { id, fault: { message, cause, code } };
  }
}

parentPort?.on('message', async (request: LedgerRequest) => {
  parentPort?.postMessage(await respond(request));
});
