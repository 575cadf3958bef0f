import { describe, expect, it } from 'vitest';
import { type PooledProcess, ProcessPool } from '../../../../src/gateway/backends/stdio/process-pool.ts';

function pooled(
  account: string,
  idleSinceMs?: number,
  isListenedTo = false,
): PooledProcess & { wasEvicted: boolean } {
  return {
    account,
    idleSinceMs,
    isListenedTo,
    wasEvicted: false,
    evict() {
      this.wasEvicted = true;
    },
  };
}

describe('the pool of a backend', () => {
  it('are as many for an account, and for all, as allowed; who gets none is told why (T-158)', () => {
    const pool = new ProcessPool('Notes', { total: 3, perAccount: 2 }, () => 0);
    expect([pool.take(pooled('ada')), pool.take(pooled('ada'))]).toEqual([undefined, undefined]);
    expect(pool.take(pooled('ada'))).toMatchObject({
      code: -32000,
      message: expect.stringMatching(/^All 2 processes of your account for the MCP server Notes are busy/),
    });
    expect(pool.take(pooled('grace'))).toBeUndefined();
    expect(pool.take(pooled('joan'))?.message).toMatch(/^All 3 processes for the MCP server Notes/);
    expect(pool.taken).toBe(3);
  });

  it('are spoken of in the singular where there is one', () => {
    const pool = new ProcessPool('Notes', { total: 5, perAccount: 1 }, () => 0);
    pool.take(pooled('ada'));
    expect(pool.take(pooled('ada'))?.message).toBe(
      'The one process of your account for the MCP server Notes is busy. Try again when its call has ended.',
    );
  });

  it('are given back by the longest idle process of the same account first', () => {
    const pool = new ProcessPool('Notes', { total: 9, perAccount: 3 }, () => 10);
    const [busy, later, longest] = [pooled('ada'), pooled('ada', 5), pooled('ada', 2)];
    for (const one of [busy, later, longest]) pool.take(one);
    expect(pool.take(pooled('ada'))).toBeUndefined();
    expect([busy.wasEvicted, later.wasEvicted, longest.wasEvicted]).toEqual([false, false, true]);
  });

  it('of others are taken only where nobody has used the process for a minute', () => {
    let nowMs = 59_999;
    const pool = new ProcessPool('Notes', { total: 1, perAccount: 1 }, () => nowMs);
    const resting = pooled('ada', 0);
    pool.take(resting);
    expect(pool.take(pooled('grace'))).toBeDefined();
    nowMs = 60_000;
    expect(pool.take(pooled('grace'))).toBeUndefined();
    expect(resting.wasEvicted).toBe(true);
    expect(pool.taken).toBe(1);
  });

  it('are free again when a process leaves', () => {
    const pool = new ProcessPool('Notes', { total: 1, perAccount: 1 }, () => 0);
    const first = pooled('ada');
    pool.take(first);
    pool.leave(first);
    expect(pool.take(pooled('grace'))).toBeUndefined();
  });

  it('are given back by all processes nobody has used for long, and nobody listens to', () => {
    const pool = new ProcessPool('Notes', { total: 9, perAccount: 9 }, () => 100);
    const all = [pooled('ada', 0), pooled('ada', 41), pooled('ada'), pooled('ada', 0, true)];
    for (const one of all) pool.take(one);
    pool.endIdle(60);
    expect(all.map(({ wasEvicted }) => wasEvicted)).toEqual([true, false, false, false]);
    expect(pool.taken).toBe(3);
  });
});
