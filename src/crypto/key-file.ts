import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { generateKeySet, type KeySet } from './keys.ts';
import { randomSecret } from './secret.ts';

/** The key file is missing, damaged or open to others. The message says what to do and holds no key. */
export class KeyFileFault extends Error {
  override name = 'KeyFileFault';
}

const ownerOnly = 0o600;

/** @throws KeyFileFault where other users of the machine could read the keys (T-163) */
function readKeyFile(file: string): KeySet {
  const descriptor = openSync(file, constants.O_RDONLY);
  try {
    const mode = fstatSync(descriptor).mode & 0o777;
    if ((mode & 0o077) !== 0)
      throw new KeyFileFault(
        `The key file can be read by others (mode ${mode.toString(8)}). Run: chmod 600 ${JSON.stringify(file)}`,
      );
    const { version, ...keys } = JSON.parse(readFileSync(descriptor, 'utf8')) as KeySet & { version: number };
    if (version !== 1 || !keys.sealing?.length || !keys.cookies?.length || !keys.signing?.length)
      throw new SyntaxError('not a key file of this version');
    return keys;
  } catch (cause) {
    if (cause instanceof KeyFileFault) throw cause;
    throw new KeyFileFault(
      'The key file is damaged. Put its backup back; without it sealed data cannot be read.',
      { cause },
    );
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads the key file, or makes one where there is none. The file appears whole and durable or not at all, and the
 * first of two processes that start at once wins.
 * @param file its path
 * @param mayCreate false where a database exists already: new keys would not open what it holds
 * @throws KeyFileFault
 */
export async function loadKeyFile(file: string, mayCreate: boolean): Promise<KeySet> {
  if (existsSync(file)) return readKeyFile(file);
  if (!mayCreate)
    throw new KeyFileFault(
      'The database is there, but its key file is not. Put the key file back beside it (it is called gatehouse.keys.json).',
    );
  const keys = await generateKeySet();
  const draft = `${file}.${randomSecret(6)}`;
  const descriptor = openSync(draft, 'wx', ownerOnly);
  try {
    writeSync(descriptor, `${JSON.stringify({ version: 1, ...keys }, null, 2)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  return readKeyFile(file);
}
