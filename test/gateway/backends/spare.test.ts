import { describe, expect, it, vi } from 'vitest';
import { createSpare } from '../../../src/gateway/backends/spare.ts';
import type { ProcessListener, StdioProcess } from '../../../src/gateway/backends/stdio-process.ts';

/** @param turns of the event loop to wait */
async function start(turns = 1) {
  const started: { isGone: boolean; listener: ProcessListener | undefined; end: () => Promise<void> }[] = [];
  const spare = createSpare(() => {
    const process = { isGone: false, listener: undefined, end: vi.fn(() => Promise.resolve()) };
    started.push(process);
    return process as unknown as StdioProcess;
  });
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  return { spare, started };
}

describe('a spare process', () => {
  it('is started before anybody needs it, and given to one only', async () => {
    const { spare, started } = await start();
    expect([started.length, spare.count]).toEqual([1, 1]);
    expect(spare.take()).toBe(started[0]);
    expect(spare.take()).toBeUndefined();
    expect(spare.count).toBe(0);
  });

  it('is replaced a second after it was taken', async () => {
    const { spare, started } = await start();
    vi.useFakeTimers();
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

  it('that ends by itself is not given to anybody, and not started without end', async () => {
    const { spare, started } = await start();
    vi.useFakeTimers();
    started[0]?.listener?.gone();
    vi.advanceTimersByTime(60_000);
    expect([started.length, spare.count]).toEqual([1, 0]);
    expect(spare.take()).toBeUndefined();
    vi.advanceTimersByTime(1000);
    expect(spare.count).toBe(1);
    vi.useRealTimers();
  });

  it('is not started where it is closed at once: settings that are only looked at start nothing', async () => {
    const { spare, started } = await start(0);
    spare.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toEqual([]);
  });
});
