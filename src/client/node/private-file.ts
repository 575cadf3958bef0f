import { constants } from 'node:fs';
import { access, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ClientError } from '../client-error.ts';
import { errorCode } from '../network-failure.ts';

/**
 * The token file or its folder cannot be used safely. The message says how to continue, and contains nothing
 * of the file.
 */
export class TokenFileError extends ClientError {
  override name = 'TokenFileError';

  /** @param message the problem, and its solution */
  constructor(message: string) {
    super('store_unusable', message);
  }
}

/** Windows has no such permission bits; the home folder is private by its access list. */
function requireOwnerOnly(path: string, mode: number, wanted: '600' | '700'): void {
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new TokenFileError(`${path} is open to other users. Run: chmod ${wanted} ${JSON.stringify(path)}`);
}

const noSpace = ['ENOSPC', 'EDQUOT'];

/**
 * Creates the error for a path that the operating system refuses, e.g. one of another user or on a full disk.
 */
function refused(path: string, error: unknown): TokenFileError {
  const code = errorCode(error) ?? 'unknown cause';
  return new TokenFileError(
    noSpace.includes(code)
      ? `${path} cannot be written: the disk is full (${code}). Free some space and try again.`
      : `${path} cannot be used by this user (${code}). Have it belong to you, or name another folder in GATEHOUSE_HOME.`,
  );
}

/**
 * Creates a folder that only its owner can enter, or checks an existing one.
 * @throws TokenFileError for a symbolic link, another kind of file, a folder open to others, or one of
 *   another user (T-188)
 */
export async function requirePrivateFolder(folder: string): Promise<void> {
  const failure: unknown = await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error) => error);
  const found = await lstat(folder).catch((error: unknown) => {
    throw refused(folder, failure ?? error);
  });
  if (!found.isDirectory())
    throw new TokenFileError(
      `${folder} is a symbolic link or a file, but must be a folder. Name another one.`,
    );
  requireOwnerOnly(folder, found.mode, '700');
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw refused(folder, error);
  });
}

/**
 * Reads a private file.
 * @returns its text; undefined if it does not exist
 * @throws TokenFileError for a symbolic link, another kind of file, a file open to others, or one that this
 *   user may not read (T-188)
 */
export async function readPrivateFile(file: string): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (errorCode(error) === 'ELOOP')
      throw new TokenFileError(`${file} is a symbolic link, which is not followed. Remove it.`);
    throw refused(file, error);
  });
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    if (!found.isFile())
      throw new TokenFileError(`${file} is a folder, or no file. Remove it, or name another one.`);
    requireOwnerOnly(file, found.mode, '600');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/**
 * Replaces a private file atomically: the new content is complete and on disk before the file is renamed, so
 * that a reader, or a crash at any time, finds the old or the new text. The caller holds a lock.
 * @throws TokenFileError if it cannot be written, e.g. on a full disk; the old content is kept
 */
export async function replacePrivateFile(file: string, text: string): Promise<void> {
  const draft = `${file}.new`;
  try {
    await rm(draft, { force: true });
    await writeDurably(draft, text);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw refused(file, error);
  }
  if (process.platform === 'win32') return;
  const folder = await open(dirname(file), constants.O_RDONLY);
  await folder.sync().finally(() => folder.close());
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
