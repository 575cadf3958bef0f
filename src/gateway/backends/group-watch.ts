import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Logger } from '../../observability/logger.ts';
import { signalGroup } from './process-group.ts';

const lookEveryMs = 500;

/**
 * Ends process groups that have grown beyond a number of processes. The system's own limit counts all processes of a
 * user together and does not hold for root, so groups are counted in /proc, twice a second: a fork bomb is stopped, not
 * prevented (T-155).
 */
export interface GroupWatch {
  /** Watches a group. @returns stops it */
  watch(group: number): () => void;
}

/**
 * Creates the watch.
 * @param name what the backend is called
 * @param most processes of a group
 * @throws Error if the system has no /proc
 */
export function createGroupWatch(name: string, most: number, logger: Pick<Logger, 'warn'>): GroupWatch {
  if (!existsSync('/proc/self/stat'))
    throw new Error('limits.processes: this system has no /proc to count processes in. Leave it out.');
  const groups = new Set<number>();
  let timer: NodeJS.Timeout | undefined;

  const look = (): void => {
    const sizes = sizesOf(groups);
    for (const [group, size] of sizes) {
      if (size <= most) continue;
      logger.warn(
        { backend: name, pid: group, processes: size, most },
        'a backend has too many processes and is ended',
      );
      // All at once: none is left that could start another.
      signalGroup(group, 'SIGKILL');
    }
  };

  return {
    watch(group) {
      groups.add(group);
      timer ??= setInterval(look, lookEveryMs).unref();
      return () => {
        groups.delete(group);
        if (groups.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

function sizesOf(groups: ReadonlySet<number>): Map<number, number> {
  const sizes = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const group = groupOf(name);
    if (group !== undefined && groups.has(group)) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  }
  return sizes;
}

function groupOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(group);
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}
