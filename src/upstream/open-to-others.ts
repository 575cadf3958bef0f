import { statSync } from 'node:fs';

/**
 * Returns the permissions of a file in octal if every user of the machine can access it (T-163). Windows has
 * no such permission bits.
 * @returns undefined if it is private, or cannot be examined
 */
export function worldReadableMode(file: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    const mode = statSync(file).mode & 0o777;
    return (mode & 0o007) === 0 ? undefined : mode.toString(8);
  } catch {
    return undefined;
  }
}
