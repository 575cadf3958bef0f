import { type KeyKind, leadSeconds, orderKeys, type ScheduledKey } from './key-schedule.ts';

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
