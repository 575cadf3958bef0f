import { readdirSync, readFileSync } from 'node:fs';

/** Whether a process runs; one that has ended and waits to be reaped does not. */
export function runs(pid: number): boolean {
  return running().some((one) => one.pid === pid);
}

/** A process, as /proc shows it. */
export interface Shown {
  pid: number;
  /** `Z` for one that has ended and waits to be reaped. */
  state: string;
  parent: number;
}

/** What a process has started and did not reap. */
export function childrenOf(pid: number): Shown[] {
  return all().filter(({ parent }) => parent === pid);
}

/** All processes that run. */
function running(): Shown[] {
  return all().filter(({ state }) => state !== 'Z' && state !== 'X');
}

function all(): Shown[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [state = '', parent] = statOf(name);
        return [{ pid: Number(name), state, parent: Number(parent) }];
      } catch {
        return [];
      }
    });
}

/** The fields of /proc/…/stat behind the name, the state first. @param place an id, or an id and a thread of it: `1/task/2` */
export function statOf(place: string): string[] {
  const stat = readFileSync(`/proc/${place}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Ids of the processes whose environment has this variable with this value. */
export function processesWith(variable: string, value: string): number[] {
  return running()
    .map(({ pid }) => pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`${variable}=${value}`);
      } catch {
        return false;
      }
    });
}
