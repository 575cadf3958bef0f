import { describe, expect, it } from 'vitest';
import { progressTokenOf, withIds } from '../../../src/mcp/modern/envelope.ts';

const request = (_meta?: unknown) => ({
  jsonrpc: '2.0' as const,
  id: 'theirs',
  method: 'tools/call',
  params: { name: 'a', ...(_meta === undefined ? {} : { _meta }) },
});

describe('inner ids (T-127)', () => {
  it('replace the id, and the progress token where there is one', () => {
    expect(withIds(request(), 5)).toEqual({ ...request(), id: 5 });
    expect(withIds(request({ progressToken: 0, a: 1 }), 5)).toEqual({
      ...request({ progressToken: 5, a: 1 }),
      id: 5,
    });
  });

  it('leave out what is no progress token or no member of a request, and the message of the client as it is (C6-03)', () => {
    const message = { ...request({ progressToken: { a: 1 }, b: 2 }), more: 1 };
    expect(withIds(message, 5)).toEqual({ ...request({ b: 2 }), id: 5 });
    expect(message.id).toBe('theirs');
    expect(progressTokenOf(message)).toBeUndefined();
    expect(progressTokenOf(request({ progressToken: '__proto__' }))).toBe('__proto__');
  });
});
