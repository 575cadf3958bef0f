import { lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { gatehouseHome } from '../client/node/home.ts';

/** Permissions by which others could write. */
const writableByOthers = 0o022;

/**
 * Creates the folder of compiled code. Node runs its files without checking them, so the folder must belong to this user,
 * and nobody else may write to it. Node's default folder is writable by all users.
 * @param env environment variables
 * @returns undefined if there can be no such folder
 */
export function compiledCodeFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    const home = gatehouseHome(env);
    const folder = join(home, 'compiled');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return [home, folder].every(isOwn) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function isOwn(folder: string): boolean {
  const { uid, mode } = lstatSync(folder);
  if (process.getuid === undefined) return true;
  return uid === process.getuid() && (mode & writableByOthers) === 0;
}

/**
 * Makes Node cache compiled code, so that the next start is faster. A folder in `NODE_COMPILE_CACHE` takes precedence, and
 * `NODE_DISABLE_COMPILE_CACHE` switches the cache off.
 * @param env environment variables
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): void {
  const folder = compiledCodeFolder(env);
  if (folder !== undefined) enableCompileCache(folder);
}
