import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Finds the private folder of an account. */
export interface AccountFolders {
  /** Gives the path of an account's folder, made where it is missing, for its owner alone (0700). */
  of(account: string): string;
}

const keyFile = 'key';

/**
 * Creates the private folders of accounts in one folder. They are named by a keyed hash: no name of an account stands in
 * a path, and nobody can tell whose a folder is, or what another's is called.
 * @param parent where they stand; made where it is missing
 * @throws Error where it cannot be made or written
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

function openKey(file: string): Buffer {
  try {
    writeFileSync(file, randomBytes(32), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file);
}
