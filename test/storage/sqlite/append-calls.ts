import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createCallStore } from '../../../src/storage/sqlite/stores/calls.ts';
import { StorageUnavailable } from '../../../src/storage/storage.ts';
import { auditKey, call } from '../contract/call.ts';

/**
 * One of several processes that append to a call ledger: batches of two calls of an account, each until it is stored. Begins
 * with the first input.
 */
const [file = '', account = '', batches = '0'] = process.argv.slice(2);
process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
const store = createCallStore(file, { audit: auditKey });
for (let batch = 0; batch < Number(batches); ) {
  const calls = [call(batch, { account }), call(batch, { account })];
  try {
    await store.append({ calls, lost: 0 }, Date.now(), true);
    process.stdout.write(`stored ${++batch}\n`);
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    await pause(1);
  }
}
await store.close();
