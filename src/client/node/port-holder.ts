import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';

/** A process that listens on a port. */
export interface PortHolder {
  pid: number;
  /** The name of its program. */
  name: string;
}

/** Maximum time for the program that finds it, in milliseconds. */
const lookUpTimeoutMs = 3_000;

/** `st` of a listening socket in /proc/net/tcp. */
const listening = '0A';

/** Returns the inodes of the sockets that listen on a port, from a table like /proc/net/tcp. */
function inodesIn(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(wanted) && state === listening)
    .flatMap(([, , , , , , , , , inode]) => (inode === undefined ? [] : [inode]));
}

async function holderByProc(port: number): Promise<PortHolder | undefined> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  const links = new Set(tables.flatMap((table) => inodesIn(table, port)).map((inode) => `socket:[${inode}]`));
  if (links.size === 0) return undefined;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const link = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (!links.has(link)) continue;
      // Its arguments may contain secrets, and the name of its first thread is not meaningful.
      const [program = ''] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      return { pid: Number(pid), name: basename(program) || 'a program' };
    }
  }
  return undefined;
}

async function holderByLsof(port: number): Promise<PortHolder | undefined> {
  const args = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'];
  const { stdout } = await promisify(execFile)('lsof', args, { timeout: lookUpTimeoutMs });
  const [, pid] = /^p(\d+)$/m.exec(stdout) ?? [];
  const [, name = 'a program'] = /^c(.+)$/m.exec(stdout) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), name };
}

/**
 * Finds the process that listens on a TCP port of this machine. Processes of other users, and all on Windows,
 * are not found.
 * @param port the port
 * @returns the process, if it can be found (CL-4)
 */
export async function findPortHolder(port: number): Promise<PortHolder | undefined> {
  try {
    if (process.platform === 'linux') return await holderByProc(port);
    if (process.platform === 'darwin') return await holderByLsof(port);
  } catch {
    // The error about the port in use is more important than its holder.
  }
  return undefined;
}
