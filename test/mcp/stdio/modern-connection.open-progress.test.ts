import { describe, expect, it } from 'vitest';
import { OpenProgress } from '../../../src/mcp/stdio/modern-connection.ts';

const asked = (id: number | string, progressToken?: unknown) => ({
  jsonrpc: '2.0' as const,
  id,
  method: 'tools/call',
  params: { _meta: { progressToken } },
});
const progressOf = (progressToken: unknown) => ({
  jsonrpc: '2.0' as const,
  method: 'notifications/progress',
  params: { progressToken, progress: 1 },
});

describe('progress', () => {
  it('passes until its request is answered (C6-03)', () => {
    const progress = new OpenProgress();
    progress.heard([asked(1, 'a'), asked('1', 0), asked(2)]);
    expect([progressOf('a'), progressOf(0), progressOf('0')].map((each) => progress.allows(each))).toEqual([
      true,
      true,
      false,
    ]);
    expect(progress.allows({ jsonrpc: '2.0', id: 1 })).toBe(true);
    expect([progressOf('a'), progressOf(0)].map((each) => progress.allows(each))).toEqual([false, true]);
  });

  it('ends when its request is cancelled, and holds nothing else back', () => {
    const progress = new OpenProgress();
    progress.heard([asked(1, 'a')]);
    progress.heard([{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }]);
    expect(progress.allows(progressOf('a'))).toBe(false);
    expect(progress.allows({ jsonrpc: '2.0', method: 'notifications/message' })).toBe(true);
  });
});
