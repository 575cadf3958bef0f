import { spawnSync } from 'node:child_process';

/** Resource limits of each process of a program. */
export interface ProcessLimits {
  /** Writable memory of each process, in megabytes: it gets no more, and most programs end then. */
  memoryMegabytes?: number;
  /** Processor time of each process over its whole life, in seconds: then the system ends it. */
  cpuSeconds?: number;
  /** Files and connections each process may have open. */
  openFiles?: number;
  /** Processes of one group: with more of them the whole group is ended. */
  processes?: number;
}

/** A program and its arguments. */
export interface CommandLine {
  command: string;
  args: readonly string[];
}

const shell = '/bin/sh';

/** Names of the limits in the shell. */
const flags = { memoryMegabytes: '-d', cpuSeconds: '-t', openFiles: '-n' } as const;

/**
 * Puts limits of the system on a program (setrlimit): the shell every POSIX system has sets them on itself, and becomes
 * the program. The program and its arguments are handed over as they are; it reads none of them as its own (T-152).
 * @param isSandboxed whether the program has a user namespace of its own: there the system can count its processes, and
 * for all users but root does not let it start more than allowed
 */
export function withLimits(
  { command, args }: CommandLine,
  limits: ProcessLimits,
  isSandboxed = false,
): CommandLine {
  const lines = linesFor(limits);
  // Shells differ in the name of this one.
  const most = limits.processes;
  if (isSandboxed && most) lines.push(`ulimit -u ${most} 2>/dev/null || ulimit -p ${most} || exit 125`);
  if (lines.length === 0) return { command, args };
  return { command: shell, args: ['-c', [...lines, 'exec "$@"'].join('\n'), 'sh', command, ...args] };
}

/**
 * Checks that this system can set limits.
 * @throws Error naming what it cannot
 */
export function checkLimits(limits: ProcessLimits): void {
  const { command, args } = withLimits({ command: 'true', args: [] }, limits);
  if (command !== shell) return;
  const { status } = spawnSync(command, args, { stdio: 'ignore' });
  if (status !== 0)
    throw new Error(
      'limits: this system cannot set them. They may be higher than what this process itself is allowed (ulimit -a).',
    );
}

function linesFor(limits: ProcessLimits): string[] {
  return Object.entries(flags).flatMap(([name, flag]) => {
    const value = limits[name as keyof typeof flags];
    if (value === undefined) return [];
    return [`ulimit ${flag} ${name === 'memoryMegabytes' ? value * 1024 : value} || exit 125`];
  });
}
