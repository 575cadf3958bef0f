import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** @returns what was read; an empty text where it cannot be */
function tryRead(read: () => string): string {
  try {
    return read().trim();
  } catch {
    return '';
  }
}

let known: string | undefined;

/**
 * Names the space in which process ids mean the same: this machine since it was started and, on Linux, this container.
 * Machines that share a folder over a network have different ones.
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

/**
 * Whether a process of this process space runs.
 * @param pid its id
 */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
