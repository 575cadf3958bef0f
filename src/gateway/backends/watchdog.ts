import { type ChildProcess, spawn } from 'node:child_process';
import type { Logger } from '../../observability/logger.ts';

/**
 * Ends process groups when this process ends, however it ends: `kill -9`, too, runs no handler (T-155).
 *
 * It is a small process that reads from a pipe which groups there are. The system closes the pipe with its last writer,
 * and then the groups get SIGTERM, and a second later SIGKILL. One for all groups, in the shell every POSIX system has:
 * it takes a megabyte, where a Node process for each backend would take forty. It is given numbers only. A signal at the
 * death of a parent (PR_SET_PDEATHSIG) would be Linux alone, reach only the first process of a group, and need native code.
 */
export interface Watchdog {
  /** Has a group ended when this process is gone. */
  begun(group: number): void;
  /** The group has ended: its number may soon be another's. */
  ended(group: number): void;
  /** Ends the watchdog, and with it groups that are left. */
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

/** Creates the watchdog of this process. It is started with the first group, and again if somebody ended it. */
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
