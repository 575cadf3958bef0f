import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Machine } from './machine.ts';

/**
 * Finds a program the way a shell does.
 * @param command a name, or a path
 * @param machine its `PATH`
 * @returns whether there is a file of that name
 */
export function isInstalled(command: string, { env, platform }: Pick<Machine, 'env' | 'platform'>): boolean {
  if (isAbsolute(command)) return existsSync(command);
  const endings = platform === 'win32' ? ['', '.exe', '.cmd'] : [''];
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .some((folder) => endings.some((ending) => existsSync(join(folder, command + ending))));
}
