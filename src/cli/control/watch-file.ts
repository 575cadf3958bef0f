import { unwatchFile, watchFile } from 'node:fs';

/** How often the file is looked at, in milliseconds. It is looked at by name: editors and Kubernetes put new files there. */
const lookEveryMs = 1000;

/**
 * Calls back when a file was written anew.
 * @returns stops it
 */
export function watchForChanges(file: string, changed: () => void): () => void {
  const look = (now: { mtimeMs: number; ino: number; size: number }, before: typeof now): void => {
    const isOther = now.mtimeMs !== before.mtimeMs || now.ino !== before.ino || now.size !== before.size;
    // One that is gone is about to be written by an editor, or a mistake; there is nothing to read.
    if (isOther && now.ino !== 0) changed();
  };
  watchFile(file, { interval: lookEveryMs, persistent: false }, look);
  return () => unwatchFile(file, look);
}
