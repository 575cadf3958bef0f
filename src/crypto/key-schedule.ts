import type { JWK } from 'jose';

/** The kinds of keys that are rotated. */
export const keyKinds = ['signing', 'cookies', 'sealing'] as const;

/** One of {@link keyKinds}. */
export type KeyKind = (typeof keyKinds)[number];

/** Where a key stands in its life. One that is gone is in no file any more. */
export type KeyState = 'next' | 'current' | 'retiring';

/** A key and its times, epoch seconds. */
export interface ScheduledKey<T> {
  id: string;
  key: T;
  createdAt: number;
  /** From when it is in use: until then it is only known, so that nobody meets it unprepared. */
  activeAt: number;
}

/** What the key file holds. */
export interface KeySchedule {
  sealing: ScheduledKey<string>[];
  cookies: ScheduledKey<string>[];
  signing: ScheduledKey<JWK>[];
  audit: string;
}

/** A key without its secret. */
export interface KeyStanding {
  kind: KeyKind;
  id: string;
  state: KeyState;
  /** Epoch seconds. */
  createdAt: number;
  /** From when it is in use, epoch seconds. */
  activeAt: number;
  /** Since when another is in use in its place, epoch seconds; of retiring keys alone. */
  retiredAt?: number;
}

/**
 * How long a new key is known before it is used, in seconds. For signing: as long as caches may keep our key set (300)
 * and verifiers their copy of it (600). For the others: until every process on the data folder has read it.
 */
export const leadSeconds: Readonly<Record<KeyKind, number>> = { signing: 900, cookies: 10, sealing: 10 };

type Times = Pick<ScheduledKey<unknown>, 'activeAt'>;

/** A list of keys as it is used: the current one first, then those it replaced, then those to come. */
export interface OrderedKeys<K> {
  current: K;
  /** Newest first, each with the time another took its place. */
  retiring: { key: K; retiredAt: number }[];
  next: K[];
}

/**
 * Orders the keys of one kind. Which is in use is a matter of the time alone, so that all processes agree; under a
 * clock that was set to before all keys it is the oldest. Of keys with one time it is the one that stands first.
 * @param keys one at least
 * @param nowSeconds epoch seconds
 */
export function orderKeys<K extends Times>(keys: readonly K[], nowSeconds: number): OrderedKeys<K> {
  const byUse = [...keys].sort((a, b) => b.activeAt - a.activeAt);
  const found = byUse.findIndex(({ activeAt }) => activeAt <= nowSeconds);
  const at = found === -1 ? byUse.length - 1 : found;
  const current = byUse[at];
  if (!current) throw new TypeError('there is no key');
  const retiring = byUse
    .slice(at + 1)
    .map((key, index) => ({ key, retiredAt: (byUse[at + index] as K).activeAt }));
  return { current, retiring, next: byUse.slice(0, at).reverse() };
}

/** Returns the keys of one kind in the order of {@link orderKeys}. */
function inUseOrder<T>(keys: readonly ScheduledKey<T>[], nowSeconds: number): ScheduledKey<T>[] {
  const { current, retiring, next } = orderKeys(keys, nowSeconds);
  return [current, ...retiring.map(({ key }) => key), ...next];
}

/**
 * Returns the keys as they are used at a time.
 * @param nowSeconds epoch seconds
 */
export function keysAt(schedule: KeySchedule, nowSeconds: number): KeySet {
  return {
    sealing: inUseOrder(schedule.sealing, nowSeconds).map(({ id, key }) => ({ id, key })),
    cookies: inUseOrder(schedule.cookies, nowSeconds).map(({ key }) => key),
    signing: inUseOrder(schedule.signing, nowSeconds).map(({ key }) => key),
    audit: schedule.audit,
  };
}

/**
 * Says where each key stands, without the keys.
 * @param nowSeconds epoch seconds
 */
export function describeKeys(schedule: KeySchedule, nowSeconds: number): KeyStanding[] {
  return keyKinds.flatMap((kind) => {
    const describe = ({ id, createdAt, activeAt }: Omit<ScheduledKey<unknown>, 'key'>, state: KeyState) => ({
      kind,
      id,
      state,
      createdAt,
      activeAt,
    });
    const { current, retiring, next } = orderKeys<ScheduledKey<unknown>>(schedule[kind], nowSeconds);
    return [
      ...next.map((key) => describe(key, 'next')),
      describe(current, 'current'),
      ...retiring.map(({ key, retiredAt }) => ({ ...describe(key, 'retiring'), retiredAt })),
    ];
  });
}

/**
 * Whether a key is to be in use later than any key made by now can be: the clock was ahead when it was made, or is
 * behind now.
 * @param nowSeconds epoch seconds
 */
export function isMisdated(
  { kind, activeAt }: { kind: KeyKind; activeAt: number },
  nowSeconds: number,
): boolean {
  return activeAt > nowSeconds + leadSeconds[kind];
}

/**
 * Puts a new key in front of the keys of its kind, in use when its lead has passed. The current key stays in use until
 * then. A misdated key is never in use any more: it retires when the new one takes over, so that what was signed or
 * sealed with it under a wrong clock can be read as long as what the current key signs or seals.
 * @param keys one at least
 * @param nowSeconds epoch seconds
 */
export function withNextKey<T>(
  kind: KeyKind,
  keys: readonly ScheduledKey<T>[],
  made: Pick<ScheduledKey<T>, 'id' | 'key'>,
  nowSeconds: number,
): [fresh: ScheduledKey<T>, ...old: ScheduledKey<T>[]] {
  const activeAt = nowSeconds + leadSeconds[kind];
  const { current } = orderKeys(keys, nowSeconds);
  const old = keys.map((key) => ({
    ...key,
    activeAt: Math.min(key.activeAt, key === current ? nowSeconds : activeAt),
  }));
  return [{ ...made, createdAt: nowSeconds, activeAt }, ...old];
}

// All of jose is nearly four times as many modules, and every command of an operator loads this one.
import { exportJWK } from 'jose/key/export';
import { generateKeyPair } from 'jose/key/generate/keypair';
import type { SealingKey } from './sealed-box.ts';
import { randomSecret } from './secret.ts';

/**
 * Every secret of an installation that is not in its database. In each list the first is in use, the rest still verify
 * or open, or will be in use soon. The lists of a key ring are live: keep the list, not what is in it.
 */
export interface KeySet {
  /** Seals what the database holds. */
  readonly sealing: readonly SealingKey[];
  /** Sign cookies and forms. */
  readonly cookies: readonly string[];
  /** Private JWKs that sign tokens (ES256). */
  readonly signing: readonly JWK[];
  /** Binds the rows of the audit log to each other, so that nobody without it can write one. */
  readonly audit: string;
}

/** @returns a fresh key that seals: 32 bytes under a random id */
export function generateSealingKey(): SealingKey {
  return { id: randomSecret(6), key: randomSecret(32) };
}

/** @returns a fresh private key for ES256 (RFC 7518 section 3.4), under a random key id */
export async function generateSigningKey(): Promise<JWK & { kid: string }> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomSecret(12), alg: 'ES256', use: 'sig' };
}

/** Makes the keys of a new installation. */
export async function generateKeySet(): Promise<KeySet> {
  return {
    sealing: [generateSealingKey()],
    cookies: [randomSecret(32)],
    signing: [await generateSigningKey()],
    audit: randomSecret(32),
  };
}
