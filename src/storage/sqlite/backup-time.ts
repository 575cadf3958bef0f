import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Beside the files of a data folder, in a backup of it. */
const fileName = 'backup.json';

/**
 * Notes in a backup when it was made: files that are copied and unpacked do not keep their times.
 * @param takenAt epoch seconds
 */
export function writeBackupTime(backup: string, takenAt: number): void {
  const text = `${JSON.stringify({ takenAt: new Date(takenAt * 1000).toISOString() })}\n`;
  writeFileSync(join(backup, fileName), text, { mode: 0o600, flag: 'wx', flush: true });
}

/**
 * Reads when a backup was made.
 * @returns epoch seconds; undefined where the backup does not tell, as one of an earlier version
 */
export function readBackupTime(backup: string): number | undefined {
  try {
    const { takenAt } = JSON.parse(readFileSync(join(backup, fileName), 'utf8')) as { takenAt?: unknown };
    const time = typeof takenAt === 'string' ? Date.parse(takenAt) : Number.NaN;
    return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
  } catch {
    return undefined;
  }
}
