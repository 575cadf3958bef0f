import { lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { gatehouseHome } from '../client/node/home.ts';

/** Permissions by which others could write. */
const writableByOthers = 0o022;

/**
 * Makes the folder of compiled code, where there is none. What lies in it is run without a look at it, so it has to be a
 * folder that belongs to this user and that nobody else can write to; Node's own default stands where all users write.
 * @param env environment variables
 * @returns undefined where there can be no such folder
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
 * Has Node keep what it compiled for the next start, which then takes less time. A folder of `NODE_COMPILE_CACHE` counts
 * before ours, and `NODE_DISABLE_COMPILE_CACHE` switches both off.
 * @param env environment variables
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): void {
  const folder = compiledCodeFolder(env);
  if (folder !== undefined) enableCompileCache(folder);
}
