import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { lifeOf, parseHolder, staleLockMs } from '../../client/node/file-lock.ts';
import type { Check } from '../check.ts';
import { pass, warn } from '../judgements.ts';
import { type Machine, storeFolder } from './machine.ts';

/** A lock file found. */
interface FoundLock {
  name: string;
  ageMs: number;
  /** Process it names; undefined if it names none. */
  pid: number | undefined;
  life: ReturnType<typeof lifeOf>;
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
      const holder = parseHolder(text);
      return { name, ageMs: machine.nowMs() - found.mtimeMs, pid: holder?.pid, life: lifeOf(holder) };
    });
  return (await Promise.all(locks)).filter((lock) => lock !== undefined);
}

/**
 * Returns true if a lock of the store was left behind by a process that died.
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
      const left = locks.filter(({ ageMs, life }) => ageMs > staleLockMs || life === 'dead');
      const lives = { running: ' lives', dead: ' is gone', unknown: ' elsewhere' };
      const describe = ({ name, ageMs, pid, life }: FoundLock): string =>
        `${name} (${Math.round(ageMs / 1000)} s old${pid === undefined ? '' : `, pid ${pid}${lives[life]}`})`;
      if (left.length > 0)
        return warn(
          `Left behind in ${storeFolder(machine)}: ${left.map(describe).join(', ')}.`,
          'The next process takes it over by itself. Where every process waits: end them, then remove the file.',
        );
      if (locks.length > 0) return pass(`In use right now: ${locks.map(describe).join(', ')}.`);
      return pass('No lock is held.');
    },
  };
}
