import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isRunning, processSpace } from './process-space.ts';

const holder = z.object({ id: z.string(), pid: z.number().int().positive(), space: z.string() });

/** Who holds a lock, as its file says. */
export type LockHolder = z.infer<typeof holder>;

/** @returns this process as the holder of one lock; each has an id of its own */
export function thisHolder(): LockHolder {
  return { id: randomUUID(), pid: process.pid, space: processSpace() };
}

/**
 * Reads the text of a lock file.
 * @param text the whole file
 * @returns the holder; undefined where it does not say, as in a file that is just being written
 */
export function parseHolder(text: string): LockHolder | undefined {
  try {
    return holder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * Says what is known of a holder's process.
 * @param held the holder; undefined where the file does not name it
 * @returns `unknown` where it runs on another machine or in another container
 */
export function lifeOf(held: LockHolder | undefined): 'running' | 'dead' | 'unknown' {
  if (held === undefined || held.space !== processSpace()) return 'unknown';
  return isRunning(held.pid) ? 'running' : 'dead';
}
