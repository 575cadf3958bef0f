import { readdirSync, readFileSync } from 'node:fs';

/** Whether a process runs; one that has ended and waits to be reaped does not. */
export function runs(pid: number): boolean {
  return running().some((one) => one.pid === pid);
}

/** All processes that run, by /proc. */
function running(): { pid: number; group: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return state === 'Z' || state === 'X' ? [] : [{ pid: Number(name), group: Number(group) }];
      } catch {
        return [];
      }
    });
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
