import { statSync } from 'node:fs';

/**
 * Finds out whether a file is open to every user of the machine (T-163). Windows has no such bits.
 * @returns its permissions in octal where it is; undefined where it is not, or cannot be looked at, which whoever reads it says
 */
export function openToOthers(file: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    const mode = statSync(file).mode & 0o777;
    return (mode & 0o007) === 0 ? undefined : mode.toString(8);
  } catch {
    return undefined;
  }
}
