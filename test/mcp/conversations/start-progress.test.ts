import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Message } from '../../../src/mcp/checks/messages.ts';
import { StartProgress } from '../../../src/mcp/conversations/start-progress.ts';

describe('who waits for a server to start', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function start() {
    const heard: Record<string, unknown>[] = [];
    const progress = new StartProgress('It is starting.', ({ params }) => void heard.push(params ?? {}));
    const wait = (id: number, _meta: object): void => {
      const call: Message = { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'a', _meta } };
      progress.add(call);
    };
    return { heard, progress, wait };
  }

  it('is told so after a second, and every five again, where they gave a progress token', () => {
    const { heard, progress, wait } = start();
    wait(1, { progressToken: 'mine' });
    wait(2, {});
    vi.advanceTimersByTime(999);
    expect(heard).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(heard).toEqual([{ progressToken: 'mine', progress: 0.000001, message: 'It is starting.' }]);
    vi.advanceTimersByTime(5000);
    expect(heard).toHaveLength(2);
    expect(Number(heard[1]?.progress)).toBeGreaterThan(Number(heard[0]?.progress));
    progress.stop();
    vi.advanceTimersByTime(60_000);
    expect(heard).toHaveLength(2);
  });

  it('hears nothing of a call that was cancelled', () => {
    const { heard, progress, wait } = start();
    wait(1, { progressToken: 'mine' });
    progress.remove(1);
    vi.advanceTimersByTime(10_000);
    expect(heard).toEqual([]);
    progress.stop();
  });
});
