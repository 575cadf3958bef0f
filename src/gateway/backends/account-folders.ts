import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Finds the private folder of an account. */
export interface AccountFolders {
  /** Returns the path of an account's folder, made if it is missing, for its owner alone (0700). */
  of(account: string): string;
}

const keyFile = 'key';
const keyBytes = 32;

/**
 * Creates the private folders of accounts in one folder. They are named by a keyed hash: no path contains the name of
 * an account, and nobody can tell the owner of a folder, or the name of another folder.
 * @param parent where they stand; made if it is missing
 * @throws Error if it cannot be made or written, or its key is not whole
 */
export function createAccountFolders(parent: string): AccountFolders {
  const path = resolve(parent);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const key = openKey(join(path, keyFile));
  return {
    of(account) {
      const name = createHmac('sha256', key).update(account).digest('hex').slice(0, 32);
      const folder = join(path, name);
      mkdirSync(join(folder, 'tmp'), { recursive: true, mode: 0o700 });
      return folder;
    },
  };
}

/**
 * Reads the key, and makes it if there is none: it appears whole and durable or not at all, and the first of two
 * processes that begin at once wins.
 */
function openKey(file: string): Buffer {
  if (!existsSync(file)) makeKey(file);
  const key = readFileSync(file);
  if (key.length === keyBytes) return key;
  throw new Error(
    `${file} is not whole: put it back from a backup, or remove it; then every account has a new folder.`,
  );
}

function makeKey(file: string): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(keyBytes), { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
}
