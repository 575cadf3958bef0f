import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { CommandLine } from './limits.ts';

/** Permissions of a program in a sandbox. */
export interface SandboxOptions {
  /** True if it reaches the network; it does not by default. */
  network?: boolean;
  /** Paths it may read beside the system's programs: if it is installed, say. None by default. */
  readable?: readonly string[];
}

/** Parts of the system that every program may read: programs and libraries, and the data for names and certificates. */
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
 * Puts a program into a sandbox of bubblewrap: it reads the system and what is named, writes its own folder and a /tmp
 * that ends with it, sees no process but its own, has no capabilities, and ends with who started it.
 * @param folder its own folder; it has none if that is undefined
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
 * Checks that programs can be put into a sandbox here.
 * @throws Error saying why not
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
