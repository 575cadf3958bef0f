import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../../observability/logger.ts';

/**
 * Ends process groups when this process ends for any reason: `kill -9` runs no handler (T-155). The watchdog is a small
 * process that reads the numbers of the groups from a pipe. When its last writer is gone, the system closes the pipe,
 * and the groups get SIGTERM, and SIGKILL a second later. One shell (POSIX) serves all groups and takes a megabyte; a
 * Node process for each backend would take forty. It gets numbers only. A signal at the death of the parent
 * (PR_SET_PDEATHSIG) exists on Linux only, reaches only the first process of a group, and needs native code.
 */
export interface Watchdog {
  /** Adds a process group. */
  begun(group: number): void;
  /** Removes a process group that has ended: its number may be reused soon. */
  ended(group: number): void;
  /** Ends the watchdog, and with it the remaining groups. */
  close(): void;
}

const script = `
trap '' HUP INT TERM
groups=' '
while read -r change group; do
  case $change in
    begun) groups="$groups$group " ;;
    ended) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -s TERM -- "-$group"; done
sleep 1
for group in $groups; do kill -s KILL -- "-$group"; done
`;

const startAgainMs = 1000;

/** Creates the watchdog. Its process is started with the first group, and again if it was ended. */
export function createWatchdog(logger: Pick<Logger, 'warn'>): Watchdog {
  const groups = new Set<number>();
  let running: ChildProcess | undefined;

  const start = (): ChildProcess => {
    // A session of its own: Ctrl+C in a terminal goes to all of the terminal's.
    const child = spawn('/bin/sh', ['-c', script], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: { PATH: process.env.PATH },
    });
    const gone = (error?: Error): void => {
      if (running !== child) return;
      running = undefined;
      logger.warn({ err: error }, 'what ends backends after a kill -9 has itself ended; it is started again');
      setTimeout(() => {
        if (groups.size > 0) running ??= start();
      }, startAgainMs).unref();
    };
    child.once('exit', () => gone()).once('error', gone);
    child.stdin.on('error', () => undefined);
    child.unref();
    for (const group of groups) child.stdin.write(`begun ${group}\n`);
    return child;
  };

  return {
    begun(group) {
      groups.add(group);
      if (running) running.stdin?.write(`begun ${group}\n`);
      else running = start();
    },
    ended(group) {
      if (groups.delete(group)) running?.stdin?.write(`ended ${group}\n`);
    },
    close() {
      const child = running;
      running = undefined;
      child?.stdin?.end();
    },
  };
}

/** Interval of the checks if a group has ended, in milliseconds. */
const lookEveryMs = 20;

/** Times for each step of the end of a group, in milliseconds. */
export interface Patience {
  /** Time to end after its standard input was closed. */
  byItselfMs: number;
  /** Time to end after SIGTERM. */
  afterTermMs: number;
}

/**
 * Sends a signal to all processes of a group.
 * @param group process id of the group's leader
 * @param signal 0 only checks
 * @returns false if there is no such process
 */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch (error) {
    // Processes that are there and belong to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Ends a group whose standard input was closed: it gets time, then SIGTERM, then SIGKILL.
 * @see MCP 2025-11-25 lifecycle "Shutdown", stdio
 */
export async function endGroup(group: number, { byItselfMs, afterTermMs }: Patience): Promise<void> {
  if (await hasEnded(group, byItselfMs)) return;
  signalGroup(group, 'SIGTERM');
  if (await hasEnded(group, afterTermMs)) return;
  signalGroup(group, 'SIGKILL');
}

async function hasEnded(group: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (signalGroup(group, 0)) {
    if (performance.now() >= until) return false;
    await pause(lookEveryMs);
  }
  return true;
}

const countEveryMs = 500;

/**
 * Ends process groups with too many processes. The limit of the system counts all processes of a user and does not
 * apply to root, so this counts them in /proc, twice a second: a fork bomb is stopped, not prevented (T-155).
 */
interface GroupWatch {
  /**
   * Watches a group.
   * @returns stops watching
   */
  watch(group: number): () => void;
}

/**
 * @param name name of the backend
 * @param most maximum number of processes of a group
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
      timer ??= setInterval(look, countEveryMs).unref();
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
