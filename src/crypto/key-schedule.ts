import type { JWK } from 'jose';
import type { KeySet } from './keys.ts';

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

/** Gives the keys of one kind in the order of {@link orderKeys}. */
function inUseOrder<T>(keys: readonly ScheduledKey<T>[], nowSeconds: number): ScheduledKey<T>[] {
  const { current, retiring, next } = orderKeys(keys, nowSeconds);
  return [current, ...retiring.map(({ key }) => key), ...next];
}

/**
 * Gives the keys as they are used at a time.
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
