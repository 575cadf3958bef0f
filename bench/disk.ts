import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { median } from './median.ts';

/** Bytes of a commit of some refreshes, and how many are written. */
const commit = { bytes: 20_000, times: 300 } as const;

/**
 * Measures how long a write takes until it is on the disk: what SQLite waits for at each commit under `synchronous=FULL`.
 * @param folder on the disk in question
 * @returns milliseconds, the middle of some hundred writes
 */
export async function measureDurableWrite(folder: string): Promise<number> {
  const own = await mkdtemp(join(folder, 'disk-'));
  const file = await open(join(own, 'log'), 'w');
  try {
    const content = Buffer.alloc(commit.bytes, 1);
    const took: number[] = [];
    for (let at = 0; at < commit.times; at++) {
      await file.write(content, 0, content.length, at * content.length);
      const begun = performance.now();
      await file.datasync();
      took.push(performance.now() - begun);
    }
    return median(took);
  } finally {
    await file.close();
    await rm(own, { recursive: true, force: true });
  }
}
