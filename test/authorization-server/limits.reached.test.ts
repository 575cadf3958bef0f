import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReached } from '../../src/authorization-server/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a limit that is reached', () => {
  it('is counted for each refused request, and written down once for a key and window', async () => {
    const counted: string[] = [];
    const written: string[] = [];
    const reached = createReached('requests', { times: 1, windowSeconds: 10 }, (limit) =>
      counted.push(limit),
    );
    const refuse = (key: string) => reached(key, ({ limit }) => written.push(`${limit} ${key}`));
    for (const key of ['a', 'a', 'b', 'a']) await refuse(key);
    expect(counted).toEqual(['requests', 'requests', 'requests', 'requests']);
    expect(written).toEqual(['requests a', 'requests b']);
    await vi.advanceTimersByTimeAsync(10_000);
    await refuse('a');
    expect(written).toEqual(['requests a', 'requests b', 'requests a']);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
