import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';

it('the thread says that it is ready, and then how each check came out', async () => {
  const thread = new Worker(new URL('../../../src/gateway/steps/argument-thread.ts', import.meta.url), {
    execArgv: [],
  });
  const said: unknown[] = [];
  thread.on('message', (message) => said.push(message));
  thread.postMessage({ schema: { type: 'object' }, value: {} });
  thread.postMessage({ schema: { type: 'object' }, value: 5 });
  thread.postMessage({ schema: { $schema: 'urn:mine' }, value: 5 });
  while (said.length < 4) await once(thread, 'message');
  await thread.terminate();
  expect(said).toEqual([
    { isReady: true },
    { problem: undefined },
    { problem: expect.stringContaining('object') },
    { isUnusable: true },
  ]);
});
