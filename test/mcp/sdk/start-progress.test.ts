import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Message } from '../../../src/mcp/protocol.ts';
import { StartProgress } from '../../../src/mcp/sdk/start-progress.ts';

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
    expect(heard).toEqual([
      { progressToken: 'mine', progress: expect.any(Number), message: 'It is starting.' },
    ]);
    vi.advanceTimersByTime(5000);
    expect(heard).toHaveLength(2);
    expect(Number(heard[0]?.progress)).toBeLessThan(0.001);
    expect(Number(heard[1]?.progress)).toBeGreaterThan(Number(heard[0]?.progress));
    progress.stop();
    vi.advanceTimersByTime(60_000);
    expect(heard).toHaveLength(2);
  });

  it('hears more progress in a second wait than in the first', () => {
    const [first, second] = [start(), start()];
    first.wait(1, { progressToken: 'mine' });
    vi.advanceTimersByTime(6000);
    first.progress.stop();
    second.wait(1, { progressToken: 'mine' });
    vi.advanceTimersByTime(1000);
    expect(Number(second.heard[0]?.progress)).toBeGreaterThan(Number(first.heard.at(-1)?.progress));
    second.progress.stop();
  });

  it('is told after a second in all, where they waited before', () => {
    const send = vi.fn();
    const progress = new StartProgress('It is starting.', send, 400);
    progress.add({ jsonrpc: '2.0', id: 1, method: 'a', params: { _meta: { progressToken: 'mine' } } });
    vi.advanceTimersByTime(599);
    expect(send).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(send).toHaveBeenCalledOnce();
    progress.stop();
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
