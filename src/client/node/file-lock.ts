import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A lock untouched for this long belongs to a process that died, in milliseconds. */
export const staleLockMs = 30_000;

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** @returns whether this call made the file; false where it was there already */
async function create(file: string, content: string): Promise<boolean> {
  try {
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isStale(file: string, staleMs: number): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > staleMs;
}

/** Removes a stale lock. A guard file keeps two waiting processes from removing each other's new lock. */
async function removeStale(file: string, staleMs: number): Promise<void> {
  const guard = `${file}.stale`;
  if (!(await create(guard, ''))) {
    if (await isStale(guard, staleMs)) await rm(guard, { force: true });
    return;
  }
  try {
    if (await isStale(file, staleMs)) await rm(file, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

/**
 * Runs work while holding a lock file, so that no other process does the same. A lock left by a dead process is taken
 * over after 30 s; a living holder keeps its lock fresh.
 * @param file path of the lock file; its folder exists
 * @param work what to do
 * @param staleMs age at which an untouched lock counts as left behind, in milliseconds
 * @returns what the work returned; the lock is gone by then
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T>,
  staleMs: number = staleLockMs,
): Promise<T> {
  const owner = randomUUID();
  while (!(await create(file, owner))) {
    if (await isStale(file, staleMs)) await removeStale(file, staleMs);
    else await sleep(20 + Math.random() * 30);
  }
  const touch = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, staleMs / 3);
  touch.unref();
  try {
    return await work();
  } finally {
    clearInterval(touch);
    if ((await readFile(file, 'utf8').catch(() => '')) === owner) await rm(file, { force: true });
  }
}
