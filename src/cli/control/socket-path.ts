import { createHash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The longest path a Unix socket can have on every system, in bytes: macOS has room for 104, the zero included. */
const longestPath = 103;

/**
 * Gives where the server of a data folder listens to its operator: a socket in the folder itself, or, where the path
 * would be too long for one, in a folder of this user's own.
 * @param dataFolder an existing folder
 * @returns the path, and the folder that has to be made for it
 */
export function controlSocketPath(dataFolder: string): { path: string; folder?: string } {
  const real = realpathSync(dataFolder);
  const path = join(real, 'control.sock');
  if (Buffer.byteLength(path) <= longestPath) return { path };
  const name = createHash('sha256').update(real).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `gatehouse-${process.getuid?.() ?? 'user'}`);
  return { path: join(folder, `${name}.sock`), folder };
}

/** Checks that nobody but this user can put anything into a folder. @throws Error where it is not so, or there is none */
export function checkOwnFolder(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
    throw new Error(`${folder} is not of this user alone`);
}
