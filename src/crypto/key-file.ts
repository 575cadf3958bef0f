import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { formatKeyFile, generateSchedule, NewerKeyFile, parseKeyFile } from './key-file-format.ts';
import type { KeySchedule } from './key-schedule.ts';
import { randomSecret } from './secret.ts';

/** The key file is missing, damaged or open to others. The message says what to do and holds no key. */
export class KeyFileFault extends Error {
  override name = 'KeyFileFault';
}

const ownerOnly = 0o600;

/**
 * Reads the key file.
 * @throws KeyFileFault where it is missing, damaged or of a newer program, or other users of the machine could read the keys (T-163)
 */
export function readKeyFile(file: string): KeySchedule {
  if (!existsSync(file))
    throw new KeyFileFault(
      'The database is there, but its key file is not. Put the key file back beside it (it is called gatehouse.keys.json).',
    );
  const descriptor = openSync(file, constants.O_RDONLY);
  try {
    const { mode: type, mtimeMs } = fstatSync(descriptor);
    const mode = type & 0o777;
    if ((mode & 0o077) !== 0)
      throw new KeyFileFault(
        `The key file can be read by others (mode ${mode.toString(8)}). Run: chmod 600 ${JSON.stringify(file)}`,
      );
    return parseKeyFile(readFileSync(descriptor, 'utf8'), Math.floor(mtimeMs / 1000));
  } catch (cause) {
    if (cause instanceof KeyFileFault) throw cause;
    if (cause instanceof NewerKeyFile) throw new KeyFileFault(cause.message, { cause });
    throw new KeyFileFault(
      'The key file is damaged. Put its backup back; without it sealed data cannot be read.',
      { cause },
    );
  } finally {
    closeSync(descriptor);
  }
}

/** Names the state of the file: another one means that it was replaced. */
export function keyFileMark(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
}

/** Says of a full disk that no keys were written; any other error stays as it is. */
function explainWrite(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return ['ENOSPC', 'EDQUOT'].includes(code)
    ? new KeyFileFault(
        `The keys cannot be written: the disk is full (${code}). Free some space and try again; nothing was changed.`,
        { cause: error },
      )
    : error;
}

/**
 * Writes keys to a draft beside the file, whole, durable and for its owner alone.
 * @returns the name of the draft
 * @throws KeyFileFault where the disk is full; no draft stays then
 */
function writeDraft(file: string, schedule: KeySchedule): string {
  const draft = `${file}.${randomSecret(6)}`;
  try {
    writeFileSync(draft, formatKeyFile(schedule), { flag: 'wx', mode: ownerOnly, flush: true });
  } catch (error) {
    rmSync(draft, { force: true });
    throw explainWrite(error);
  }
  return draft;
}

function syncFolder(file: string): void {
  const descriptor = openSync(dirname(file), constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Makes the key file where there is none. It appears whole and durable or not at all, and the first of two processes
 * that start at once wins.
 * @param nowSeconds epoch seconds
 * @throws KeyFileFault where the disk is full
 */
export async function createKeyFile(file: string, nowSeconds: number): Promise<void> {
  if (existsSync(file)) return;
  const draft = writeDraft(file, await generateSchedule(nowSeconds));
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(file);
}

/**
 * Replaces the key file: whoever reads it, now or after a crash, finds the old keys or the new ones, whole (T-166).
 * Only for who keeps others from replacing it meanwhile.
 * @throws KeyFileFault where the disk is full: the old keys stay
 */
export function replaceKeyFile(file: string, schedule: KeySchedule): void {
  const draft = writeDraft(file, schedule);
  try {
    renameSync(draft, file);
  } catch (error) {
    unlinkSync(draft);
    throw error;
  }
  syncFolder(file);
}
