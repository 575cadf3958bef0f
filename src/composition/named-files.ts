import { statSync } from 'node:fs';

/**
 * Gives what tells whether files named in settings have changed, without reading them.
 * @param settings looked through for entries called `file`
 * @returns a text that differs where one of them was written anew; one that is not there is a part of it, too
 */
export function markFiles(settings: unknown): string {
  return filesIn(settings).map(markFile).join('\n');
}

function filesIn(settings: unknown): string[] {
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([name, value]) =>
    name === 'file' && typeof value === 'string' ? [value] : filesIn(value),
  );
}

function markFile(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return JSON.stringify([file, stats && [stats.ino, stats.mtimeNs, stats.size].map(String)]);
}
