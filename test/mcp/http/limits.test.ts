import { describe, expect, it } from 'vitest';
import { createCallLimit } from '../../../src/mcp/http/limits.ts';

describe('the limit of calls in flight', () => {
  it('is one of each principal, and a call that ended makes room', () => {
    const limit = createCallLimit(2);
    expect([limit.begin('a'), limit.begin('a'), limit.begin('a'), limit.begin('b')]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    limit.end('a');
    expect([limit.begin('a'), limit.begin('a')]).toEqual([true, false]);
  });

  it('counts names of objects as names (T-137)', () => {
    const limit = createCallLimit(1);
    expect([limit.begin('__proto__'), limit.begin('__proto__')]).toEqual([true, false]);
    limit.end('__proto__');
    expect(limit.begin('__proto__')).toBe(true);
  });

  it('tells when none runs any more, or when patience is over (T-181)', async () => {
    const limit = createCallLimit(2);
    await limit.whenNoneRuns(60_000);
    limit.begin('a');
    limit.begin('b');
    let told = false;
    const none = limit.whenNoneRuns(60_000).then(() => {
      told = true;
    });
    limit.end('a');
    await limit.whenNoneRuns(10);
    expect(told).toBe(false);
    limit.end('b');
    await none;
  });
});
