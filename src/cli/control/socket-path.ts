import { createHash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The longest path a Unix socket can have on every system, in bytes: macOS has room for 104, the zero included. */
const longestPath = 103;

/** The longest name a socket gets, behind what it begins with. */
const longestEnding = '-4194304-0123abcd.sock';

const ending = /^-(\d+)-[0-9a-f]+\.sock$/;

/** Where a running server can be asked. */
export interface ControlSocket {
  path: string;
  /** Id of its process, as that one sees it. */
  pid: number;
}

/** Where the servers of a data folder have their sockets. */
interface Place {
  folder: string;
  /** What their names begin with. */
  name: string;
  /** Whether it is a folder of this user's own, which has to be made. */
  isApart: boolean;
}

function placeOf(dataFolder: string): Place {
  const real = realpathSync(dataFolder);
  if (Buffer.byteLength(join(real, `control${longestEnding}`)) <= longestPath)
    return { folder: real, name: 'control', isApart: false };
  const name = createHash('sha256').update(real).digest('hex').slice(0, 16);
  return { folder: join(tmpdir(), `gatehouse-${process.getuid?.() ?? 'user'}`), name, isApart: true };
}

/**
 * Gives where this server of a data folder can listen to its operator: at a socket of its own, for others may serve the
 * folder as well. It stands in the folder itself, or, where the path would be too long for one, in a folder of this user's own.
 * @param dataFolder an existing folder
 * @returns the path, and the folder that has to be made for it
 */
export function newControlSocket(dataFolder: string): { path: string; folder?: string } {
  const { folder, name, isApart } = placeOf(dataFolder);
  const path = join(folder, `${name}-${process.pid}-${randomBytes(4).toString('hex')}.sock`);
  return isApart ? { path, folder } : { path };
}

/**
 * Finds the sockets of the servers of a data folder; one that was killed has left its own.
 * @param dataFolder an existing folder
 * @throws Error where others could have put sockets there, or the folder cannot be read
 */
export function findControlSockets(dataFolder: string): ControlSocket[] {
  const { folder, name, isApart } = placeOf(dataFolder);
  if (isApart && !existsSync(folder)) return [];
  if (isApart) checkOwnFolder(folder);
  return readdirSync(folder)
    .filter((file) => file.startsWith(name))
    .flatMap((file) => {
      const pid = ending.exec(file.slice(name.length))?.[1];
      return pid === undefined ? [] : [{ path: join(folder, file), pid: Number(pid) }];
    })
    .sort((a, b) => a.pid - b.pid);
}

/** Checks that nobody but this user can put anything into a folder. @throws Error where it is not so, or there is none */
export function checkOwnFolder(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
    throw new Error(`${folder} is not of this user alone`);
}
