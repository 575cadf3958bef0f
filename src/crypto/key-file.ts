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

/** The key file is missing, damaged or readable by others. The message says what to do and contains no key. */
export class KeyFileFault extends Error {
  override name = 'KeyFileFault';
}

const ownerOnly = 0o600;

/**
 * Reads the key file.
 * @throws KeyFileFault if it is missing, damaged or of a newer program, or if other users of the machine could read the
 * keys (T-163)
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

/** Returns a mark of the file that changes when the file is replaced. */
export function keyFileMark(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
}

/** Turns the error of a full disk into a KeyFileFault; returns other errors as they are. */
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
 * Writes keys to a draft beside the file, durable and readable by its owner only.
 * @returns path of the draft
 * @throws KeyFileFault if the disk is full; the draft is removed
 */
function writeDraft(file: string, text: string): string {
  const draft = `${file}.${randomSecret(6)}`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: ownerOnly, flush: true });
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
 * Creates the key file if it is missing. It appears whole and durable or not at all; of two processes that start at
 * once the first wins.
 * @param nowSeconds epoch seconds
 * @throws KeyFileFault if the disk is full
 */
export async function createKeyFile(file: string, nowSeconds: number): Promise<void> {
  if (!existsSync(file)) createSecretFile(file, formatKeyFile(await generateSchedule(nowSeconds)));
}

/**
 * Creates a file that only its owner can read. It appears whole and durable or not at all; a file that exists stays.
 * @throws KeyFileFault if the disk is full
 */
export function createSecretFile(file: string, text: string): void {
  const draft = writeDraft(file, text);
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
 * Replaces the key file: a reader, also after a crash, finds the old keys or the new ones, whole (T-166). The caller
 * must prevent concurrent replacements.
 * @throws KeyFileFault if the disk is full: the old keys stay
 */
export function replaceKeyFile(file: string, schedule: KeySchedule): void {
  const draft = writeDraft(file, formatKeyFile(schedule));
  try {
    renameSync(draft, file);
  } catch (error) {
    unlinkSync(draft);
    throw error;
  }
  syncFolder(file);
}

/** Content of a version 1 key file, without times: the first key of each list is current. */
interface FirstVersion {
  sealing: SealingKey[];
  cookies: string[];
  signing: JWK[];
}

/** Adds times to keys, as if each had replaced the next one in the list. */
function withTimes<T>(keys: { id: string; key: T }[], since: number): ScheduledKey<T>[] {
  return keys.map((entry, index) => ({ ...entry, createdAt: since - index, activeAt: since - index }));
}

/**
 * Upgrades a version 1 key file. The audit key is derived from the oldest sealing key, so that every process that reads
 * the file gets the same one.
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

/** Version of written key files. */
const newestVersion = 2;

/** The key file is of a newer program. The message says what to do. */
class NewerKeyFile extends Error {
  override name = 'NewerKeyFile';
}

/**
 * Parses a key file of any known version.
 * @param writtenAt modification time of the file, epoch seconds: the age of keys without times
 * @throws NewerKeyFile if it is of a newer program
 * @throws an error without key material if it is damaged
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

/** Formats a key file. */
export function formatKeyFile({ sealing, cookies, signing, audit }: KeySchedule): string {
  return `${JSON.stringify({ version: newestVersion, sealing, cookies, signing, audit }, null, 2)}\n`;
}

/**
 * Creates the keys of a new installation, active at once.
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

/** Minimum length of a cookie or audit key, in characters. */
const minTextKeyLength = 32;

/** Minimum number of different characters in a text key; of a billion random keys of 32 characters one has fewer. */
const minDifferentCharacters = 10;

/** The private keys of RFC 7515 appendix A.3 and RFC 7517 appendix A.2: they are public (T-163). */
const publishedKeys: ReadonlySet<string> = new Set([
  'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
  '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE',
]);

/** Returns whether a text may be a random key; an example, a default or a repeated word is not. */
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

/** Returns whether a JWK is a consistent private key for ES256 (RFC 7518 sections 3.4, 6.2). */
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

/** Returns whether a list is not empty, all its keys are valid, and their ids are unique. */
function holds(list: ScheduledKey<unknown>[], rule: (entry: ScheduledKey<unknown>) => boolean): boolean {
  if (!Array.isArray(list) || list.length === 0) return false;
  return (
    list.every((entry) => hasTimes(entry) && rule(entry)) &&
    new Set(list.map(({ id }) => id)).size === list.length
  );
}

/**
 * Returns the reason why keys cannot be used, without naming a key (T-163, T-179).
 * @returns undefined for valid keys
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
