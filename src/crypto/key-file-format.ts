import { hkdfSync } from 'node:crypto';
import type { JWK } from 'jose';
import { checkKeys } from './key-checks.ts';
import type { KeySchedule, ScheduledKey } from './key-schedule.ts';
import { generateKeySet, type KeySet } from './keys.ts';
import type { SealingKey } from './sealed-box.ts';
import { randomSecret } from './secret.ts';

/** What key files held before keys had times: the first of each list is in use. */
interface FirstVersion {
  sealing: SealingKey[];
  cookies: string[];
  signing: JWK[];
}

/** Gives keys without times the times they would have, had each taken the place of the one behind it. */
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
 * @throws NewerKeyFile where a newer program wrote it
 * @throws where it is damaged; the message names no key
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

/** Gives the text of a key file. */
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
