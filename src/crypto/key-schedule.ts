import type { JWK } from 'jose';

/** The kinds of rotated keys. */
export const keyKinds = ['signing', 'cookies', 'sealing'] as const;

/** One of {@link keyKinds}. */
export type KeyKind = (typeof keyKinds)[number];

/** Stage in the life of a key. A removed key is in no file any more. */
export type KeyState = 'next' | 'current' | 'retiring';

/** A key and its times, epoch seconds. */
export interface ScheduledKey<T> {
  id: string;
  key: T;
  createdAt: number;
  /** Time from which the key is used; until then it is only published, so that every process knows it in time. */
  activeAt: number;
}

/** Content of the key file. */
export interface KeySchedule {
  sealing: ScheduledKey<string>[];
  cookies: ScheduledKey<string>[];
  signing: ScheduledKey<JWK>[];
  audit: string;
}

/** The state of a key, without the key. */
export interface KeyStanding {
  kind: KeyKind;
  id: string;
  state: KeyState;
  /** Epoch seconds. */
  createdAt: number;
  /** Time from which the key is used, epoch seconds. */
  activeAt: number;
  /** Time at which another key replaced it, epoch seconds; only for retiring keys. */
  retiredAt?: number;
}

/**
 * Time from the creation of a key to its use, in seconds. For signing keys: as long as caches may keep our key set
 * (300) and verifiers their copy of it (600). For others: until every process on the data folder has read it.
 */
export const leadSeconds: Readonly<Record<KeyKind, number>> = { signing: 900, cookies: 10, sealing: 10 };

type Times = Pick<ScheduledKey<unknown>, 'activeAt'>;

/** Keys in the order of use: the current one, then those it replaced, then future ones. */
export interface OrderedKeys<K> {
  current: K;
  /** Newest first, each with the time at which it was replaced. */
  retiring: { key: K; retiredAt: number }[];
  next: K[];
}

/**
 * Orders the keys of one kind. The time alone decides which is current, so that all processes agree; if the clock is
 * before all keys, it is the oldest. Of keys with the same time it is the first in the list.
 * @param keys at least one
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
 * Returns the keys in use at a time.
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
 * Returns the state of each key, without the keys.
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
 * Returns whether a key's activation is later than that of any key made now: the clock was ahead when it was made, or
 * is behind now.
 * @param nowSeconds epoch seconds
 */
export function isMisdated(
  { kind, activeAt }: { kind: KeyKind; activeAt: number },
  nowSeconds: number,
): boolean {
  return activeAt > nowSeconds + leadSeconds[kind];
}

/**
 * Adds a new key of a kind, active after its lead time; the current key stays in use until then. A misdated key is
 * never used any more: it retires when the new key takes over, so that data signed or sealed with it under a wrong
 * clock stays readable as long as that of the current key.
 * @param keys at least one
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

// All of jose is nearly four times as many modules, and every operator command loads this file.
import { exportJWK } from 'jose/key/export';
import { generateKeyPair } from 'jose/key/generate/keypair';
import type { SealingKey } from './sealed-box.ts';
import { randomSecret } from './secret.ts';

/**
 * All secrets of an installation outside its database. In each list the first key is current; the others still verify
 * or open, or become current soon. The lists of a key ring are live: keep the list, not its content.
 */
export interface KeySet {
  /** Seal the content of the database. */
  readonly sealing: readonly SealingKey[];
  /** Sign cookies and forms. */
  readonly cookies: readonly string[];
  /** Private JWKs that sign tokens (ES256). */
  readonly signing: readonly JWK[];
  /** Authenticates the rows of the audit log. */
  readonly audit: string;
}

/** @returns a fresh sealing key: 32 bytes with a random id */
export function generateSealingKey(): SealingKey {
  return { id: randomSecret(6), key: randomSecret(32) };
}

/** @returns a fresh private key for ES256 (RFC 7518 section 3.4), with a random key id */
export async function generateSigningKey(): Promise<JWK & { kid: string }> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomSecret(12), alg: 'ES256', use: 'sig' };
}

/** Creates the keys of a new installation. */
export async function generateKeySet(): Promise<KeySet> {
  return {
    sealing: [generateSealingKey()],
    cookies: [randomSecret(32)],
    signing: [await generateSigningKey()],
    audit: randomSecret(32),
  };
}
