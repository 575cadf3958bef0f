import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** How long the tool of the system may take, in milliseconds: the server starts without it. */
const toolMs = 2_000;

/** The policies of Linux at the numbers that `/proc` gives them. @see sched(7) */
const policies = ['other', 'fifo', 'rr', 'batch', undefined, 'idle', 'deadline', 'ext'] as const;

/**
 * Tells by which policy the system runs this process.
 * @returns undefined on other systems than Linux, where `/proc` cannot be read, and for a policy that has no name here
 * @see proc_pid_stat(5), field 41
 */
export function schedulingPolicy(): (typeof policies)[number] {
  if (process.platform !== 'linux') return undefined;
  try {
    const behindName = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1) ?? '';
    return policies[Number(behindName.split(' ')[38])];
  } catch {
    return undefined;
  }
}

/**
 * Has Linux run this process, and what it starts from now on, by its policy for batch work: when something comes for it
 * it does not break in on the program that runs, but is next when that waits, or has used up its turn. A server and the
 * programs behind it that share a core then pass on many calls a turn and not one or two, each with what the processor
 * holds of it lost in between. A core that has nothing to do takes it at once, as ever.
 *
 * Done by `chrt` of util-linux, as Node.js has no call for it. Where that is missing or refused, and on other systems,
 * nothing changes; a policy that this process was started with stays.
 * @see sched(7), "SCHED_BATCH"
 */
export async function useBatchScheduling(): Promise<void> {
  if (schedulingPolicy() !== 'other') return;
  try {
    const { PATH } = process.env;
    const args = ['--batch', '--all-tasks', '--pid', '0', String(process.pid)];
    await promisify(execFile)('chrt', args, { timeout: toolMs, killSignal: 'SIGKILL', env: { PATH } });
  } catch {
    // The policy stays the usual one: all else works as well.
  }
}
