// A thread of its own for the checking of arguments: one that takes too long is ended with it.
import { parentPort } from 'node:worker_threads';
import { checkBySchema } from './schema-check.ts';

parentPort?.on('message', ({ schema, value }: { schema: Record<string, unknown>; value: unknown }) => {
  try {
    parentPort?.postMessage({ problem: checkBySchema(schema, value) });
  } catch {
    parentPort?.postMessage({ isUnusable: true });
  }
});
parentPort?.postMessage({ isReady: true });
