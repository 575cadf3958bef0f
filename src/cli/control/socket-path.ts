import { createHash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The longest path a Unix socket can have on every system, in bytes: macOS has room for 104, the zero included. */
const longestPath = 103;

/** The longest name a socket gets, behind what it begins with. */
const longestEnding = '-4194304-0123abcd.sock';

const ending = /^-(\d+)-[0-9a-f]+\.sock$/;

/** The control socket of a running server. */
export interface ControlSocket {
  path: string;
  /** Id of its process, as that one sees it. */
  pid: number;
}

/** The place of the control sockets of a data folder. */
interface Place {
  folder: string;
  /** Prefix of the socket names. */
  name: string;
  /** True for a separate folder of this user, which has to be created. */
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
 * Returns the path for the control socket of this server. Each server of a data folder has its own. The socket is in the
 * data folder, or, if that path would be too long, in a separate folder of this user.
 * @param dataFolder an existing folder
 * @returns the path, and the folder that has to be created for it
 */
export function newControlSocket(dataFolder: string): { path: string; folder?: string } {
  const { folder, name, isApart } = placeOf(dataFolder);
  const path = join(folder, `${name}-${process.pid}-${randomBytes(4).toString('hex')}.sock`);
  return isApart ? { path, folder } : { path };
}

/**
 * Finds the sockets of the servers of a data folder; one that was killed has left its own.
 * @param dataFolder an existing folder
 * @throws Error if others could have put sockets there, or the folder cannot be read
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

/** Requires that only this user can write to a folder. @throws Error if others can, or if there is no such folder */
export function checkOwnFolder(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
    throw new Error(`${folder} is not of this user alone`);
}
