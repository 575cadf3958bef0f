import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { testFolder } from '../../../client/support/folder.ts';

it('the thread of the call ledger responds to each request, also if its work fails', async () => {
  const program = new URL('../../../../src/storage/sqlite/stores/call-thread.ts', import.meta.url);
  const workerData = join(testFolder(), 'gatehouse.calls.db');
  const thread = new Worker(program, { workerData, execArgv: [] });
  const responses: { id: number }[] = [];
  thread.on('message', (response) => responses.push(response));
  thread.postMessage({ id: 7, audit: 'key', method: 'seals', values: [0, 10] });
  thread.postMessage({ id: 8, audit: 'key', method: 'append', values: [] });
  while (responses.length < 2) await once(thread, 'message');
  await thread.terminate();
  expect(responses).toContainEqual({ id: 7, result: [] });
  expect(responses).toContainEqual({
    id: 8,
    fault: { message: expect.stringContaining('cannot be used'), cause: expect.any(Error), code: undefined },
  });
});
