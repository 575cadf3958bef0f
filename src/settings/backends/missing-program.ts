import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** What `execvp` looks through where there is no PATH. */
const usualPath = ['/bin', '/usr/bin'].join(delimiter);

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Says what is wrong with the program of a backend, where it is not there now: it may be installed later.
 * @param command a path, or a name to look for in `path`, as `execvp` does
 * @param path the PATH it is looked for in; undefined where there is none, and the usual one of the system counts
 * @returns a sentence that says what to do; undefined where it can be started
 */
export function findMissingProgram(command: string, path: string | undefined): string | undefined {
  const isPath = command.includes('/');
  const folders = path === '' ? [] : (path ?? usualPath).split(delimiter);
  const files = isPath ? [resolve(command)] : folders.map((folder) => join(folder || '.', command));
  if (files.some(canRun)) return undefined;
  if (/\s/.test(command.trim()))
    return 'there is no program of that name: no shell reads it, so it is the program alone, and its arguments stand in args';
  return isPath
    ? 'there is no program that can be run at this path'
    : 'there is no program of that name in PATH: install it, correct the name, or write its whole path';
}
