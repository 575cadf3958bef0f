import { parentPort, workerData } from 'node:worker_threads';
import { createCallStore } from '../../../src/storage/sqlite/stores/calls.ts';
import type { LedgerRequest } from '../../../src/storage/sqlite/stores/calls-in-thread.ts';
import { auditKey } from '../contract/call.ts';

/** A thread of the call ledger that ends at each second batch: in turns before and after it is stored. */
const store = createCallStore(workerData as string, { audit: auditKey });
const work = store as unknown as Record<string, (...values: readonly unknown[]) => Promise<unknown>>;
let batches = 0;

parentPort?.on('message', async ({ id, method, values }: LedgerRequest) => {
  const isLast = method === 'append' && ++batches === 2;
  const { head } = await store.ends();
  if (isLast && (head?.batch ?? 0) % 2 === 0) process.exit();
  const result = await work[method]?.(...values);
  if (isLast) process.exit();
  parentPort?.postMessage({ id, result });
});
