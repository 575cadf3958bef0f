import { describe, expect, it } from 'vitest';
import { Lanes } from '../../../../src/gateway/backends/remote/lanes.ts';

const limits = { total: 3, perAccount: 2, waitingPerAccount: 2 };

describe('the lanes to a backend', () => {
  it('are bounded for an account and for all; what finds none waits, up to a bound (T-158)', () => {
    const lanes = new Lanes(limits);
    const gone: string[] = [];
    const enter = (account: string, name: string): boolean => lanes.enter(account, () => gone.push(name));
    expect(['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => enter('a', name))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    expect(enter('b', 'b1')).toBe(true);
    expect(enter('b', 'b2')).toBe(true);
    expect(gone).toEqual(['a1', 'a2', 'b1']);
    expect(lanes.taken).toBe(3);
    expect(lanes.tryEnter('c')).toBe(false);
  });

  it('go to those who wait, accounts in turn, and are all free in the end', () => {
    const lanes = new Lanes({ ...limits, waitingPerAccount: 9 });
    const gone: string[] = [];
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'])
      lanes.enter(name[0] as string, () => gone.push(name));
    expect(gone).toEqual(['a1', 'a2', 'b1']);
    const left = [...'aabbaac'];
    for (const account of left) lanes.leave(account);
    expect(gone).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'a3', 'a4']);
    expect(lanes.taken).toBe(0);
    expect(lanes.tryEnter('a')).toBe(true);
  });
});
