import { describe, expect, it } from 'vitest';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';
import { createAnswerCache } from '../../../src/resource-server/introspection/answer-cache.ts';
import { authInfoWith } from '../../mcp/support/auth-info.ts';

function setUp(keepSeconds = 5) {
  const clock = { now: 1000 };
  const cache = createAnswerCache({ keepSeconds, now: () => clock.now });
  const asked: string[] = [];
  const ada: AuthInfo = { ...authInfoWith(), expiresAt: 1100 };
  const find = (token: string, learned: AuthInfo | 'bad' = ada) =>
    cache.find(token, async () => {
      asked.push(token);
      return learned === 'bad' ? undefined : learned;
    });
  return { clock, cache, asked, ada, find };
}

describe('what is known of a token', () => {
  it('stands for its time, good or bad, and is asked for again after it (A12-11)', async () => {
    const { clock, asked, ada, find } = setUp();
    expect([await find('a'), await find('a'), await find('b', 'bad')]).toEqual([ada, ada, undefined]);
    clock.now = 1004;
    expect([await find('a', 'bad'), await find('b')]).toEqual([ada, undefined]);
    clock.now = 1005;
    expect([await find('a', 'bad'), await find('b')]).toEqual([undefined, ada]);
    expect([await find('a'), await find('b', 'bad')]).toEqual([undefined, ada]);
    expect(asked).toEqual(['a', 'b', 'a', 'b']);
  });

  it('never stands beyond the end of the token (T-097)', async () => {
    const { clock, asked, ada, find } = setUp(60);
    await find('a', { ...ada, expiresAt: 1002 });
    clock.now = 1002;
    expect(await find('a', 'bad')).toBeUndefined();
    expect(asked).toEqual(['a', 'a']);
  });

  it('is asked for once for all who want to know at the same time, also where nothing is kept', async () => {
    const { asked, find } = setUp(0);
    await Promise.all(Array.from({ length: 20 }, () => find('a')));
    await find('a');
    expect(asked).toEqual(['a', 'a']);
  });

  it('is not a failure: the next one asks again', async () => {
    const { cache, ada, find } = setUp();
    await expect(cache.find('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect(await find('a')).toBe(ada);
  });

  it('is not driven out by a flood of bad tokens (T-055)', async () => {
    const { asked, ada, find } = setUp();
    await find('good');
    for (let at = 0; at < 10_100; at++) await find(`bad-${at}`, 'bad');
    expect(await find('good', 'bad')).toBe(ada);
    await find('bad-10099');
    await find('bad-0', 'bad');
    expect(asked.slice(10_101)).toEqual(['bad-0']);
  });
});
