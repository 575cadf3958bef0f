import { createPrivateKey, createPublicKey, hkdfSync, type JsonWebKey, sign, verify } from 'node:crypto';
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
import type { JWK } from 'jose';
import { generateKeySet, type KeySchedule, type KeySet, type ScheduledKey } from './key-schedule.ts';
import type { SealingKey } from './sealed-box.ts';
import { randomSecret } from './secret.ts';

/** The key file is missing, damaged or open to others. The message says what to do and holds no key. */
export class KeyFileFault extends Error {
  override name = 'KeyFileFault';
}

const ownerOnly = 0o600;

/**
 * Reads the key file.
 * @throws KeyFileFault if it is missing, damaged or of a newer program, or other users of the machine could read the keys (T-163)
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
 * @throws KeyFileFault if the disk is full; no draft stays then
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
 * Makes the key file if there is none. It appears whole and durable or not at all, and the first of two processes
 * that start at once wins.
 * @param nowSeconds epoch seconds
 * @throws KeyFileFault if the disk is full
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
 * @throws KeyFileFault if the disk is full: the old keys stay
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

/** What key files held before keys had times: the first of each list is in use. */
interface FirstVersion {
  sealing: SealingKey[];
  cookies: string[];
  signing: JWK[];
}

/** Returns keys without times the times they would have, had each taken the place of the one behind it. */
function withTimes<T>(keys: { id: string; key: T }[], since: number): ScheduledKey<T>[] {
  return keys.map((entry, index) => ({ ...entry, createdAt: since - index, activeAt: since - index }));
}

/**
 * Reads keys of the first version. The key of the audit log comes from the oldest sealing key, so that every process
 * that reads the file has the same.
 */
function upgrade({ sealing, cookies, signing }: FirstVersion, since: number): KeySchedule {
  const oldest = Buffer.from(sealing.at(-1)?.key ?? '', 'base64url');
  const idOf = (key: string): string => `first-${cookies.indexOf(key) + 1}`;
  return {
    sealing: withTimes(sealing, since),
    cookies: withTimes(
      cookies.map((key) => ({ id: idOf(key), key })),
      since,
    ),
    signing: withTimes(
      signing.map((key) => ({ id: key.kid ?? '', key })),
      since,
    ),
    audit: Buffer.from(hkdfSync('sha256', oldest, '', 'gatehouse audit log', 32)).toString('base64url'),
  };
}

/** The version of key files that are written. */
const newestVersion = 2;

/** A key file that a newer program wrote. The message says what to do. */
export class NewerKeyFile extends Error {
  override name = 'NewerKeyFile';
}

/**
 * Reads the text of a key file, of this version or the first.
 * @param writtenAt when the file was written, epoch seconds: the age of keys that have none
 * @throws NewerKeyFile if a newer program wrote it
 * @throws if it is damaged; the message names no key
 */
export function parseKeyFile(text: string, writtenAt: number): KeySchedule {
  const { version, ...keys } = JSON.parse(text) as { version: number } & KeySchedule & FirstVersion;
  if (Number.isInteger(version) && version > newestVersion)
    throw new NewerKeyFile(
      `The key file is of version ${version}, this program knows versions up to ${newestVersion}. Use the newer program that wrote it, or restore a backup from before the upgrade.`,
    );
  if (version !== 1 && version !== newestVersion)
    throw new SyntaxError('not a key file of a version known here');
  const schedule: KeySchedule = version === 1 ? upgrade(keys, writtenAt) : keys;
  const fault = checkKeys(schedule);
  if (fault) throw new SyntaxError(fault);
  return schedule;
}

/** Returns the text of a key file. */
export function formatKeyFile({ sealing, cookies, signing, audit }: KeySchedule): string {
  return `${JSON.stringify({ version: newestVersion, sealing, cookies, signing, audit }, null, 2)}\n`;
}

/**
 * Makes the keys of a new installation, in use from the start.
 * @param nowSeconds epoch seconds
 */
export async function generateSchedule(nowSeconds: number): Promise<KeySchedule> {
  const { sealing, cookies, signing, audit }: KeySet = await generateKeySet();
  const times = { createdAt: nowSeconds, activeAt: nowSeconds };
  return {
    sealing: sealing.map((entry) => ({ ...entry, ...times })),
    cookies: cookies.map((key) => ({ id: randomSecret(6), key, ...times })),
    signing: signing.map((key) => ({ id: key.kid ?? '', key, ...times })),
    audit,
  };
}

const sealingKeyBytes = 32;

/** Shortest key that signs cookies and forms, or binds the audit log, in characters. */
const minTextKeyLength = 32;

/** A random key of 32 characters has more different ones than this, but for one in a billion. */
const minDifferentCharacters = 10;

/** The private keys of RFC 7515 appendix A.3 and RFC 7517 appendix A.2: everybody has them (T-163). */
const publishedKeys: ReadonlySet<string> = new Set([
  'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
  '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE',
]);

/** Whether a text could be a random key: an example, a default or a word repeated is not. */
function looksRandom(text: string): boolean {
  return new Set(text).size >= minDifferentCharacters;
}

function isTextKey(key: unknown): boolean {
  return typeof key === 'string' && key.length >= minTextKeyLength && looksRandom(key);
}

function isSealingKey({ id, key }: ScheduledKey<unknown>): boolean {
  if (!/^[\x21-\x7E]{1,255}$/.test(id)) return false;
  return (
    typeof key === 'string' && Buffer.from(key, 'base64url').length === sealingKeyBytes && looksRandom(key)
  );
}

/** Whether a JWK is a private key for ES256 (RFC 7518 sections 3.4, 6.2) whose parts belong together. */
function isSigningKey({ id, key }: ScheduledKey<unknown>): boolean {
  const jwk = key as JWK;
  if (jwk.kty !== 'EC' || jwk.crv !== 'P-256' || typeof jwk.kid !== 'string' || jwk.kid !== id) return false;
  if (typeof jwk.d !== 'string' || publishedKeys.has(jwk.d)) return false;
  const secret = createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' });
  const probe = Buffer.from('gatehouse');
  return verify('sha256', probe, createPublicKey(secret), sign('sha256', probe, secret));
}

function hasTimes({ id, createdAt, activeAt }: ScheduledKey<unknown>): boolean {
  return (
    typeof id === 'string' && id !== '' && Number.isSafeInteger(createdAt) && Number.isSafeInteger(activeAt)
  );
}

/** Whether a list has a key, all of its keys are good, and no two have one id. */
function holds(list: ScheduledKey<unknown>[], rule: (entry: ScheduledKey<unknown>) => boolean): boolean {
  if (!Array.isArray(list) || list.length === 0) return false;
  return (
    list.every((entry) => hasTimes(entry) && rule(entry)) &&
    new Set(list.map(({ id }) => id)).size === list.length
  );
}

/**
 * Says what keeps keys from being used, and names none of them (T-163, T-179).
 * @returns undefined for keys that can be used
 */
export function checkKeys({ sealing, cookies, signing, audit }: KeySchedule): string | undefined {
  if (!holds(sealing, isSealingKey)) return 'each sealing key needs an id and 32 random bytes in base64url';
  if (!holds(cookies, ({ key }) => isTextKey(key)))
    return `each cookie key needs at least ${minTextKeyLength} random characters`;
  if (!holds(signing, isSigningKey))
    return 'each signing key must be a private P-256 JWK with a kid, and nobody else’s';
  if (!isTextKey(audit)) return `the audit key needs at least ${minTextKeyLength} random characters`;
  return undefined;
}
