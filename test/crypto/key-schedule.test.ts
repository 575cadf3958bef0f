import { describe, expect, it } from 'vitest';
import { generateSchedule } from '../../src/crypto/key-file-format.ts';
import { describeKeys, keysAt, leadSeconds, orderKeys } from '../../src/crypto/key-schedule.ts';
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
