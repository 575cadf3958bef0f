import { describe, expect, it } from 'vitest';
import { isMisdated, withNextKey } from '../../src/crypto/next-key.ts';

const key = (id: string, activeAt: number) => ({ id, key: id, createdAt: activeAt, activeAt });

const made = { id: 'new', key: 'new' };

/** The keys with a new one in front, made at 1000, by id and the time from which they are in use. */
const times = (...keys: ReturnType<typeof key>[]) =>
  withNextKey('cookies', keys, made, 1000).map(({ id, activeAt }) => [id, activeAt]);

describe('the next key', () => {
  it('is misdated where it is to be in use later than its lead from now', () => {
    expect(isMisdated({ kind: 'cookies', activeAt: 1010 }, 1000)).toBe(false);
    expect(isMisdated({ kind: 'cookies', activeAt: 1011 }, 1000)).toBe(true);
    expect(isMisdated({ kind: 'signing', activeAt: 1900 }, 1000)).toBe(false);
    expect(isMisdated({ kind: 'signing', activeAt: 1901 }, 1000)).toBe(true);
  });

  it('is in use when its lead has passed, and leaves the times of keys that are in order', () => {
    expect(times(key('current', 900), key('old', 800))).toEqual([
      ['new', 1010],
      ['current', 900],
      ['old', 800],
    ]);
  });

  it('retires keys dated ahead when it is in use, and the oldest of them is current now where all are', () => {
    expect(times(key('ahead', 9000), key('current', 900))).toEqual([
      ['new', 1010],
      ['ahead', 1010],
      ['current', 900],
    ]);
    expect(times(key('b', 9000), key('a', 8000))).toEqual([
      ['new', 1010],
      ['b', 1010],
      ['a', 1000],
    ]);
  });
});
