import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** Maximum time of the system's tool, in milliseconds: the server starts without it. */
const toolMs = 2_000;

/** The scheduling policies of Linux, by the number that `/proc` has for each. @see sched(7) */
const policies = ['other', 'fifo', 'rr', 'batch', undefined, 'idle', 'deadline', 'ext'] as const;

/**
 * Returns the policy by which the system runs this process.
 * @returns undefined on other systems than Linux, if `/proc` cannot be read, and for a policy without a name here
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
 * Sets the policy for batch work for this process and the programs that it starts. A batch process that has work does
 * not interrupt the running program, but runs when that waits or has used up its time slice. A server and a program that
 * share a core then handle many calls per time slice, and a fifth more calls in all. An idle core takes them at once, as
 * ever.
 *
 * Uses `chrt` of util-linux, as Node.js has no call for it. Nothing changes if it is missing or refused, or on other
 * systems. A policy that this process was started with stays.
 * @see sched(7), "SCHED_BATCH"
 */
export async function useBatchScheduling(): Promise<void> {
  if (schedulingPolicy() !== 'other') return;
  try {
    const { PATH } = process.env;
    const args = ['--batch', '--all-tasks', '--pid', '0', String(process.pid)];
    await promisify(execFile)('chrt', args, { timeout: toolMs, killSignal: 'SIGKILL', env: { PATH } });
  } catch {
    // The policy stays the usual one; everything works with it.
  }
}
