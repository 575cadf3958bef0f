import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../network-failure.ts';
import { lifeOf, parseHolder, thisHolder } from './lock-holder.ts';

/** A lock untouched for this long belongs to a process that died, in milliseconds. */
export const staleLockMs = 30_000;

/** How a draft of a lock file ends: with a random UUID. */
const draftName = /\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** What file systems without hard links answer. */
const noLinks = new Set<string | undefined>(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

/**
 * Makes a file with its content at once: a process that is killed meanwhile leaves no lock that names nobody.
 * @returns whether this call made it; false where it was there already
 */
async function create(file: string, content: string): Promise<boolean> {
  if (await stat(file).catch(() => undefined)) return false;
  const draft = `${file}.${randomUUID()}`;
  const options = { flag: 'wx', mode: 0o600 };
  try {
    await writeFile(draft, content, options);
    await link(draft, file).catch(async (error: unknown) => {
      if (!noLinks.has(errorCode(error))) throw error;
      await writeFile(file, content, options);
    });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function isOlder(file: string, ageMs: number): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > ageMs;
}

/** What a waiting process saw of a lock, and since when it has not changed. */
interface Sight {
  mtimeMs: number;
  sinceMs: number;
}

/**
 * Whether a lock was left behind: its process is dead; or it runs, and was not seen to touch the lock for long, in
 * time that passed while this machine was awake; or nothing is known of it, and the lock is old.
 */
async function isLeft(file: string, staleMs: number, sight: Sight): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return false;
  const life = lifeOf(parseHolder(await readFile(file, 'utf8').catch(() => '')));
  if (life === 'dead') return true;
  if (life === 'unknown') return Date.now() - found.mtimeMs > staleMs;
  if (found.mtimeMs !== sight.mtimeMs)
    Object.assign(sight, { mtimeMs: found.mtimeMs, sinceMs: performance.now() });
  return performance.now() - sight.sinceMs > staleMs;
}

/** Removes what processes left that were killed while they made the file. */
async function removeDrafts(file: string, staleMs: number): Promise<void> {
  const folder = dirname(file);
  const drafts = (await readdir(folder)).filter(
    (name) => draftName.test(name) && name.startsWith(`${basename(file)}.`),
  );
  for (const draft of drafts)
    if (await isOlder(join(folder, draft), staleMs)) await rm(join(folder, draft), { force: true });
}

/**
 * Removes a lock that was left behind. A guard file keeps two waiting processes from removing each other's new lock.
 * @returns whether this call removed it
 */
async function removeLeft(file: string, staleMs: number, sight: Sight): Promise<boolean> {
  const guard = `${file}.stale`;
  if (!(await create(guard, JSON.stringify(thisHolder())))) {
    if (await isLeft(guard, staleMs, { mtimeMs: -1, sinceMs: 0 })) await rm(guard, { force: true });
    else await sleep(10);
    return false;
  }
  try {
    if (!(await isLeft(file, staleMs, sight))) return false;
    await rm(file, { force: true });
    await removeDrafts(file, staleMs);
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}

/**
 * Runs work while holding a lock file, so that no other process does the same. The lock of a process that died is taken
 * over: at once where it ran on this machine, after 30 s where that cannot be known. A living holder keeps its lock fresh.
 * @param file path of the lock file; its folder exists
 * @param work what to do; it is told whether the lock was taken over from a process that died or hangs
 * @param staleMs age at which an untouched lock counts as left behind, in milliseconds
 * @returns what the work returned; the lock is gone by then
 * @see RFC 9700 section 4.14.2: a refresh token is redeemed once (CL-1, T-188)
 */
export async function withFileLock<T>(
  file: string,
  work: (takenOver: boolean) => Promise<T>,
  staleMs: number = staleLockMs,
): Promise<T> {
  const owner = JSON.stringify(thisHolder());
  const sight = { mtimeMs: -1, sinceMs: 0 };
  let takenOver = false;
  while (!(await create(file, owner))) {
    if (await isLeft(file, staleMs, sight)) takenOver = (await removeLeft(file, staleMs, sight)) || takenOver;
    else await sleep(20 + Math.random() * 30);
  }
  const touch = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, staleMs / 3);
  touch.unref();
  try {
    return await work(takenOver);
  } finally {
    clearInterval(touch);
    if ((await readFile(file, 'utf8').catch(() => '')) === owner) await rm(file, { force: true });
  }
}
