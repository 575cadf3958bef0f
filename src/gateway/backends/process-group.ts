import { setTimeout as pause } from 'node:timers/promises';

/** Interval of the checks whether a group has ended, in milliseconds. */
const lookEveryMs = 20;

/** Milliseconds that a group gets at each step of its end. */
export interface Patience {
  /** To end by itself, after its standard input was closed. */
  byItselfMs: number;
  /** To end after SIGTERM. */
  afterTermMs: number;
}

/**
 * Sends a signal to all processes of a group.
 * @param group id of the group: that of the process that leads it
 * @param signal 0 only looks
 * @returns whether there was a process to send it to
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
 * Ends a group whose standard input was closed: it may end by itself, then gets SIGTERM, then SIGKILL.
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
