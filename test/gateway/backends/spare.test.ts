import { describe, expect, it, vi } from 'vitest';
import { createSpare } from '../../../src/gateway/backends/spare.ts';
import type { ProcessListener, StdioProcess } from '../../../src/gateway/backends/stdio-process.ts';

function start() {
  const started: { isGone: boolean; listener: ProcessListener | undefined; end: () => Promise<void> }[] = [];
  const spare = createSpare(() => {
    const process = { isGone: false, listener: undefined, end: vi.fn(() => Promise.resolve()) };
    started.push(process);
    return process as unknown as StdioProcess;
  });
  return { spare, started };
}

describe('a spare process', () => {
  it('is started before anybody needs it, and given to one only', () => {
    const { spare, started } = start();
    expect([started.length, spare.count]).toEqual([1, 1]);
    expect(spare.take()).toBe(started[0]);
    expect(spare.take()).toBeUndefined();
    expect(spare.count).toBe(0);
  });

  it('is replaced a second after it was taken', () => {
    vi.useFakeTimers();
    const { spare, started } = start();
    spare.take();
    vi.advanceTimersByTime(999);
    expect(started).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect([started.length, spare.count]).toEqual([2, 1]);
    spare.close();
    expect(started[1]?.end).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(5000);
    expect(started).toHaveLength(2);
    vi.useRealTimers();
  });

  it('that ends by itself is not given to anybody, and not started without end', () => {
    vi.useFakeTimers();
    const { spare, started } = start();
    started[0]?.listener?.gone();
    vi.advanceTimersByTime(60_000);
    expect([started.length, spare.count]).toEqual([1, 0]);
    expect(spare.take()).toBeUndefined();
    vi.advanceTimersByTime(1000);
    expect(spare.count).toBe(1);
    vi.useRealTimers();
  });
});
