import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Permissions of a program in a sandbox. */
export interface SandboxOptions {
  /** Allows network access; false by default. */
  network?: boolean;
  /** Paths that the program may read beside the system's programs, such as its installation; none by default. */
  readable?: readonly string[];
}

/** Paths that every program may read: programs and libraries, and the data for names and certificates. */
const system = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/group',
  '/etc/hosts',
  '/etc/ld.so.cache',
  '/etc/localtime',
  '/etc/nsswitch.conf',
  '/etc/passwd',
  '/etc/pki',
  '/etc/resolv.conf',
  '/etc/ssl',
];

/**
 * Runs a program in a sandbox of bubblewrap. It can read the system and the named paths, and write to its own folder
 * and a temporary /tmp. It sees only its own processes, has no capabilities, and ends with its parent.
 * @param folder its own folder, if it has one
 */
export function inSandbox(
  { command, args }: CommandLine,
  { network = false, readable = [] }: SandboxOptions,
  folder?: string,
): CommandLine {
  const read = [
    ...system.flatMap((path) => ['--ro-bind-try', path, path]),
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
  ];
  const own = folder === undefined ? ['--chdir', '/'] : ['--bind', folder, folder, '--chdir', folder];
  return {
    command: 'bwrap',
    args: [
      ...['--unshare-all', ...(network ? ['--share-net'] : []), '--die-with-parent', '--cap-drop', 'ALL'],
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', ...read, ...own],
      ...['--', command, ...args],
    ],
  };
}

/**
 * Checks that this system can sandbox programs.
 * @throws Error with the reason if it cannot
 */
export function checkSandbox(options: SandboxOptions): void {
  const missing = options.readable?.filter((path) => !existsSync(path)) ?? [];
  if (missing.length > 0)
    throw new Error(
      `sandbox: ${missing.join(', ')} in readable ${missing.length === 1 ? 'does' : 'do'} not exist. Correct the path, or leave it out.`,
    );
  const { command, args } = inSandbox({ command: 'true', args: [] }, options);
  const { status, error, stderr } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  if (status === 0) return;
  const why = error ? 'bubblewrap (bwrap) is not installed' : String(stderr).trim();
  throw new Error(
    `sandbox: ${why}. Install the package bubblewrap, allow user namespaces to this user, or leave the setting out.`,
  );
}

/** Resource limits of each process of a program. */
export interface ProcessLimits {
  /** Maximum writable memory of each process, in megabytes. */
  memoryMegabytes?: number;
  /** Maximum processor time of each process, in seconds. */
  cpuSeconds?: number;
  /** Maximum number of open files and connections of each process. */
  openFiles?: number;
  /** Maximum number of processes of one group; a larger group is ended. */
  processes?: number;
}

/** A program and its arguments. */
interface CommandLine {
  command: string;
  args: readonly string[];
}

const shell = '/bin/sh';

/** Names of the limits in the shell. */
const flags = { memoryMegabytes: '-d', cpuSeconds: '-t', openFiles: '-n' } as const;

/**
 * Sets limits of the system (setrlimit): the shell sets them for itself, and then replaces itself with the program. No
 * argument is interpreted by the shell (T-152).
 * @param isSandboxed true if the program has its own user namespace: then the system can limit its processes, except
 *   for root
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
 * @throws Error with the reason if it cannot
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
