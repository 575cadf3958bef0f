import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { link, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { errorCode } from '../network-failure.ts';

/** Age at which an untouched lock belongs to a dead process, in milliseconds. */
export const staleLockMs = 30_000;

/** The end of a draft's name: a random UUID. */
const draftName = /\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Error codes of file systems without hard links. */
const noLinks = new Set<string | undefined>(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

/**
 * Creates a file with its content atomically: a killed process leaves no lock file without a holder.
 * @returns false if the file existed already
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

/** The modification time of a lock that a waiting process saw, and since when it is unchanged. */
interface Sight {
  mtimeMs: number;
  sinceMs: number;
}

/**
 * Checks if a lock was abandoned: its process is dead; or its process runs, but has not touched the lock for
 * long while this machine was awake; or the process is unknown, and the lock is old.
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

/** Deletes the drafts of processes that were killed while they created the file. */
async function removeDrafts(file: string, staleMs: number): Promise<void> {
  const folder = dirname(file);
  const drafts = (await readdir(folder)).filter(
    (name) => draftName.test(name) && name.startsWith(`${basename(file)}.`),
  );
  for (const draft of drafts)
    if (await isOlder(join(folder, draft), staleMs)) await rm(join(folder, draft), { force: true });
}

/**
 * Deletes an abandoned lock. A guard file prevents that two waiting processes delete each other's new lock.
 * @returns true if this call deleted it
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
 * Runs work while holding a lock file, so that no other process does the same. The lock of a dead process is
 * taken over: at once if it ran on this machine, after 30 s if that is unknown. A living holder keeps its
 * lock fresh.
 * @param file path of the lock file; its folder exists
 * @param work gets true if the lock was taken over from a process that died or hangs
 * @param staleMs age at which an untouched lock counts as abandoned, in milliseconds
 * @returns the result of the work, after the lock was released
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

const holder = z.object({ id: z.string(), pid: z.number().int().positive(), space: z.string() });

/** The holder of a lock, as stored in its file. */
export type LockHolder = z.infer<typeof holder>;

/** Returns this process as the holder of one lock; each lock has an id of its own. */
export function thisHolder(): LockHolder {
  return { id: randomUUID(), pid: process.pid, space: processSpace() };
}

/**
 * Parses the text of a lock file.
 * @returns undefined if it names no holder, like a file that is being written
 */
export function parseHolder(text: string): LockHolder | undefined {
  try {
    return holder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * Returns if the holder's process is alive; `unknown` if it runs on another machine or in another container.
 * @param held undefined if the file names no holder
 */
export function lifeOf(held: LockHolder | undefined): 'running' | 'dead' | 'unknown' {
  if (held === undefined || held.space !== processSpace()) return 'unknown';
  return isRunning(held.pid) ? 'running' : 'dead';
}

/** Returns the text; empty if it cannot be read. */
function tryRead(read: () => string): string {
  try {
    return read().trim();
  } catch {
    return '';
  }
}

let known: string | undefined;

/**
 * Returns an identifier of the space in which process ids are unique: this machine since its start and, on
 * Linux, this container. Machines that share a folder over a network have different ones.
 */
export function processSpace(): string {
  known ??= describe();
  return known;
}

function describe(): string {
  const boot = tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const namespace = tryRead(() => readlinkSync('/proc/self/ns/pid'));
  return [hostname(), boot, namespace].filter((part) => part !== '').join(' ');
}

/** Checks if a process of this process space runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
