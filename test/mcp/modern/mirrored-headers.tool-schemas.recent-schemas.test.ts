import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRecentSchemas } from '../../../src/mcp/modern/mirrored-headers.ts';
import type { Backend } from '../../../src/mcp/protocol.ts';
import { createCaller } from '../support/modern-calls.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('schemas of tools that may change unheard', () => {
  it('are those of the list each caller sees, read again after ten seconds, and when they are forgotten', async () => {
    vi.useFakeTimers();
    let reads = 0;
    const begin: Backend['begin'] = ({ caller, answer }) => {
      const title = `${caller.authInfo.subject} ${++reads}`;
      answer({ status: 200, result: { tools: [{ name: 'a', inputSchema: { title } }] } });
      return () => {};
    };
    const { find, forget } = createRecentSchemas(begin);
    expect(await find('a', createCaller('ann'))).toEqual({ title: 'ann 1' });
    expect(await find('a', createCaller('bob'))).toEqual({ title: 'bob 2' });
    vi.advanceTimersByTime(9999);
    expect(await find('a', createCaller('ann'))).toEqual({ title: 'ann 1' });
    expect(await find('b', createCaller('ann'))).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(await find('a', createCaller('ann'))).toEqual({ title: 'ann 3' });
    forget();
    expect(await find('a', createCaller('ann'))).toEqual({ title: 'ann 4' });
  });
});
