import { importJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { generateSchedule } from '../../src/crypto/key-file.ts';
import {
  describeKeys,
  generateKeySet,
  isMisdated,
  keysAt,
  leadSeconds,
  orderKeys,
  withNextKey,
} from '../../src/crypto/key-schedule.ts';
import { randomSecret } from '../../src/crypto/secret.ts';

const key = (id: string, activeAt: number) => ({ id, activeAt });
const ids = (keys: readonly { id: string }[]): string[] => keys.map(({ id }) => id);

describe('keys of one kind', () => {
  it.each([
    [99, 'a', [], ['b', 'c']],
    [150, 'a', [], ['b', 'c']],
    [200, 'b', ['a'], ['c']],
    [299, 'b', ['a'], ['c']],
    [1000, 'c', ['b', 'a'], []],
  ])('at %i have %s in use, %j retiring and %j to come (T-178)', (now, current, retiring, next) => {
    const ordered = orderKeys([key('b', 200), key('a', 100), key('c', 300)], now);
    expect(ordered.current.id).toBe(current);
    expect(ids(ordered.retiring.map((entry) => entry.key))).toEqual(retiring);
    expect(ids(ordered.next)).toEqual(next);
  });

  it('retire when another is used in their place', () => {
    const { retiring } = orderKeys([key('a', 100), key('b', 200), key('c', 300)], 400);
    expect(retiring.map((entry) => [entry.key.id, entry.retiredAt])).toEqual([
      ['b', 300],
      ['a', 200],
    ]);
  });

  it('are one at least', () => {
    expect(() => orderKeys([], 1)).toThrow(TypeError);
  });
});

describe('the keys in use', () => {
  it('begin with the current one; the next one is there before it is used (T-178)', async () => {
    const schedule = await generateSchedule(100);
    const [old] = schedule.cookies;
    const next = { id: 'next', key: randomSecret(32), createdAt: 200, activeAt: 210 };
    schedule.cookies.unshift(next);
    expect(keysAt(schedule, 209).cookies).toEqual([old?.key, next.key]);
    expect(keysAt(schedule, 210).cookies).toEqual([next.key, old?.key]);
    expect(
      describeKeys(schedule, 211)
        .filter(({ kind }) => kind === 'cookies')
        .map(({ id, state, retiredAt }) => [id, state, retiredAt]),
    ).toEqual([
      ['next', 'current', undefined],
      [old?.id, 'retiring', 210],
    ]);
  });

  it('are described without any key', async () => {
    const schedule = await generateSchedule(100);
    const text = JSON.stringify(describeKeys(schedule, 100));
    for (const { key: secret } of [...schedule.cookies, ...schedule.sealing])
      expect(text).not.toContain(secret);
    expect(text).not.toContain(schedule.signing[0]?.key.d);
    expect(text).not.toContain(schedule.audit);
  });

  it('wait longer than a cache may keep the key set and a verifier its copy (T-178)', () => {
    expect(leadSeconds.signing).toBeGreaterThanOrEqual(300 + 600);
  });
});

const scheduled = (id: string, activeAt: number) => ({ id, key: id, createdAt: activeAt, activeAt });

const made = { id: 'new', key: 'new' };

/** The keys with a new one in front, made at 1000, by id and the time from which they are in use. */
const times = (...keys: ReturnType<typeof scheduled>[]) =>
  withNextKey('cookies', keys, made, 1000).map(({ id, activeAt }) => [id, activeAt]);

describe('the next key', () => {
  it('is misdated where it is to be in use later than its lead from now', () => {
    expect(isMisdated({ kind: 'cookies', activeAt: 1010 }, 1000)).toBe(false);
    expect(isMisdated({ kind: 'cookies', activeAt: 1011 }, 1000)).toBe(true);
    expect(isMisdated({ kind: 'signing', activeAt: 1900 }, 1000)).toBe(false);
    expect(isMisdated({ kind: 'signing', activeAt: 1901 }, 1000)).toBe(true);
  });

  it('is in use when its lead has passed, and leaves the times of keys that are in order', () => {
    expect(times(scheduled('current', 900), scheduled('old', 800))).toEqual([
      ['new', 1010],
      ['current', 900],
      ['old', 800],
    ]);
  });

  it('retires keys dated ahead when it is in use, and the oldest of them is current now where all are', () => {
    expect(times(scheduled('ahead', 9000), scheduled('current', 900))).toEqual([
      ['new', 1010],
      ['ahead', 1010],
      ['current', 900],
    ]);
    expect(times(scheduled('b', 9000), scheduled('a', 8000))).toEqual([
      ['new', 1010],
      ['b', 1010],
      ['a', 1000],
    ]);
  });
});

describe('a new key set', () => {
  it('has one fresh key of each sort, of full strength', async () => {
    const [one, other] = await Promise.all([generateKeySet(), generateKeySet()]);
    expect(Buffer.from(one.sealing[0]?.key ?? '', 'base64url')).toHaveLength(32);
    expect(Buffer.from(one.cookies[0] ?? '', 'base64url')).toHaveLength(32);
    expect(one.sealing[0]?.key).not.toBe(other.sealing[0]?.key);
    expect(one.cookies[0]).not.toBe(other.cookies[0]);
    expect(one.signing[0]?.d).not.toBe(other.signing[0]?.d);
  });

  it('signs with ES256 under a key id of its own', async () => {
    const { signing } = await generateKeySet();
    expect(signing[0]).toMatchObject({
      kty: 'EC',
      crv: 'P-256',
      alg: 'ES256',
      use: 'sig',
      kid: expect.any(String),
    });
    await expect(importJWK(signing[0] ?? {}, 'ES256')).resolves.toMatchObject({ type: 'private' });
  });
});
