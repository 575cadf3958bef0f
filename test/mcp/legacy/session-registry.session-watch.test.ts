import { describe, expect, it, onTestFinished } from 'vitest';
import { type SessionWatchOptions, watchSessions } from '../../../src/mcp/legacy/session-registry.ts';

function startWatch(held: string[], present: Set<string>) {
  const asked: number[] = [];
  const gone: string[] = [];
  const warnings: string[] = [];
  const others = { mark: 'a' };
  const end = watchSessions({
    store: {
      othersMark: async () => others.mark,
      filterPresent: async (keys) => {
        asked.push(keys.length);
        if (others.mark === 'broken') throw new Error('no database');
        return keys.filter((key) => present.has(key));
      },
    },
    held: () => held,
    onGone: (keys) => void gone.push(...keys),
    logger: {
      warn: (_details: object, text: string) => void warnings.push(text),
    } as SessionWatchOptions['logger'],
    intervalMs: 5,
  });
  onTestFinished(end);
  return { asked, gone, warnings, others, end };
}

describe('the watch over sessions', () => {
  it('tells which are gone when another process wrote, and asks only then', async () => {
    const present = new Set(['a', 'b']);
    const { asked, gone, others } = startWatch(['a', 'b'], present);
    await expect.poll(() => asked).toEqual([2]);
    present.delete('b');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([asked, gone]).toEqual([[2], []]);
    others.mark = 'b';
    await expect.poll(() => gone).toEqual(['b']);
    expect(asked).toEqual([2, 2]);
  });

  it('asks in batches', async () => {
    const keys = Array.from({ length: 1200 }, (_, n) => String(n));
    const { asked } = startWatch(keys, new Set(keys));
    await expect.poll(() => asked).toEqual([500, 500, 200]);
  });

  it('goes on where the database fails', async () => {
    const { gone, warnings, others } = startWatch(['a'], new Set());
    others.mark = 'broken';
    await expect.poll(() => warnings.length).toBeGreaterThan(0);
    others.mark = 'c';
    await expect.poll(() => gone).toContain('a');
  });
});
