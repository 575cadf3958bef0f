import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { staleLockMs } from '../../client/node/file-lock.ts';
import type { Check } from '../check.ts';
import { type Machine, storeFolder } from './machine.ts';

/** A lock file found. */
interface FoundLock {
  name: string;
  ageMs: number;
  /** Process it names, and whether that lives; undefined where it names none. */
  holder: { pid: number; alive: boolean } | undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** The process a lock names, in any of the forms a lock file of ours may have. */
function readHolder(text: string): FoundLock['holder'] {
  const pid = Number(/"?pid"?\D{0,3}(\d{1,10})/.exec(text)?.[1]);
  return Number.isInteger(pid) && pid > 0 ? { pid, alive: isAlive(pid) } : undefined;
}

async function findLocks(machine: Machine): Promise<FoundLock[]> {
  const folder = storeFolder(machine);
  const names = await readdir(folder).catch(() => []);
  const locks = names
    .filter((name) => /\.lock(\.stale)?$/.test(name))
    .map(async (name): Promise<FoundLock | undefined> => {
      const file = join(folder, name);
      const found = await stat(file).catch(() => undefined);
      if (found === undefined) return undefined;
      const text = await readFile(file, 'utf8').catch(() => '');
      return { name, ageMs: machine.nowMs() - found.mtimeMs, holder: readHolder(text) };
    });
  return (await Promise.all(locks)).filter((lock) => lock !== undefined);
}

/**
 * Whether a lock of the store was left behind by a process that died.
 * @param machine the machine
 * @see RFC 9700 section 4.14 (CL-1, CL-4)
 */
export function locksCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-LOCK',
    section: 'machine',
    title: 'No lock was left behind',
    clause: 'RFC 9700 section 4.14',
    async judge() {
      const locks = await findLocks(machine);
      const left = locks.filter(({ ageMs, holder }) => ageMs > staleLockMs || holder?.alive === false);
      const describe = ({ name, ageMs, holder }: FoundLock): string =>
        `${name} (${Math.round(ageMs / 1000)} s old${holder ? `, pid ${holder.pid} ${holder.alive ? 'lives' : 'is gone'}` : ''})`;
      if (left.length > 0)
        return {
          verdict: 'warn',
          saw: `Left behind in ${storeFolder(machine)}: ${left.map(describe).join(', ')}.`,
          fix: 'The next process takes it over by itself. Where every process waits: end them, then remove the file.',
        };
      if (locks.length > 0)
        return { verdict: 'pass', saw: `In use right now: ${locks.map(describe).join(', ')}.` };
      return { verdict: 'pass', saw: 'No lock is held.' };
    },
  };
}
