import { createPrivateKey, createPublicKey, type JsonWebKey, sign, verify } from 'node:crypto';
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
import type { JWK } from 'jose';
import { generateKeySet, type KeySet } from './keys.ts';
import type { SealingKey } from './sealed-box.ts';
import { randomSecret } from './secret.ts';

/** The key file is missing, damaged or open to others. The message says what to do and holds no key. */
export class KeyFileFault extends Error {
  override name = 'KeyFileFault';
}

const ownerOnly = 0o600;

const sealingKeyBytes = 32;

/** Shortest key that signs cookies and forms, in characters. */
const minCookieKeyLength = 32;

function isSealingKey({ id, key }: Partial<SealingKey>): boolean {
  if (typeof id !== 'string' || !/^[\x21-\x7E]{1,255}$/.test(id)) return false;
  return typeof key === 'string' && Buffer.from(key, 'base64url').length === sealingKeyBytes;
}

/** Whether a JWK is a private key for ES256 (RFC 7518 sections 3.4, 6.2) whose parts belong together. */
function isSigningKey(jwk: JWK): boolean {
  if (jwk.kty !== 'EC' || jwk.crv !== 'P-256' || typeof jwk.kid !== 'string' || jwk.kid === '') return false;
  if (typeof jwk.d !== 'string') return false;
  const key = createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' });
  const probe = Buffer.from('gatehouse');
  return verify('sha256', probe, createPublicKey(key), sign('sha256', probe, key));
}

/** What keeps a key set from being used; undefined for a whole one. Names no key (T-179). */
function checkKeySet({ sealing, cookies, signing }: KeySet): string | undefined {
  const holds = <T>(list: T[], rule: (entry: T) => boolean): boolean =>
    Array.isArray(list) && list.length > 0 && list.every(rule);
  if (!holds(sealing, isSealingKey)) return 'each sealing key needs an id and 32 bytes in base64url';
  if (!holds(cookies, (key) => typeof key === 'string' && key.length >= minCookieKeyLength))
    return `each cookie key needs at least ${minCookieKeyLength} characters`;
  if (!holds(signing, isSigningKey)) return 'each signing key must be a private P-256 JWK with a kid';
  return undefined;
}

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
    if (version !== 1) throw new SyntaxError('not a key file of this version');
    const fault = checkKeySet(keys);
    if (fault) throw new SyntaxError(fault);
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
