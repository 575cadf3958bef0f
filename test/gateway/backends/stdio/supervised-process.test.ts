import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StdioProcess } from '../../../../src/gateway/backends/stdio/stdio-process.ts';
import { ProcessStart, StartQueue } from '../../../../src/gateway/backends/stdio/supervised-process.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const refusal = { error: { code: -32603, message: 'Enter a token.' } };

function begin() {
  const launch = Promise.withResolvers<StdioProcess | typeof refusal>();
  const launched = { end: vi.fn(() => Promise.resolve()) } as unknown as StdioProcess;
  const heard: unknown[] = [];
  const start = new ProcessStart(() => launch.promise, {
    launched: (process) => heard.push(process),
    refused: (error) => heard.push(error),
    failed: () => heard.push('failed'),
  });
  return { start, launch, launched, heard };
}
const settled = () => vi.advanceTimersByTimeAsync(0);

describe('a start of a process', () => {
  it('tells what became of it: a process, a refusal, or that it failed', async () => {
    const [well, refused, failed] = [begin(), begin(), begin()];
    well.launch.resolve(well.launched);
    refused.launch.resolve(refusal);
    failed.launch.reject(new Error('no such program'));
    await settled();
    expect([well.heard, refused.heard, failed.heard]).toEqual([[well.launched], [refusal.error], ['failed']]);
    expect(well.launched.end).not.toHaveBeenCalled();
  });

  it('that is over before its process is there ends that process, and tells nothing', async () => {
    const { start, launch, launched, heard } = begin();
    start.over();
    launch.resolve(launched);
    await settled();
    expect(launched.end).toHaveBeenCalledOnce();
    expect(heard).toEqual([]);
  });

  it('that is over is told of no refusal and no failure: another start may run by then', async () => {
    const [refused, failed] = [begin(), begin()];
    refused.start.over();
    failed.start.over();
    refused.launch.resolve(refusal);
    failed.launch.reject(new Error('no such program'));
    await settled();
    expect([refused.heard, failed.heard]).toEqual([[], []]);
  });

  it('has things happen in time for as long as it is not over', () => {
    const { start } = begin();
    const done: string[] = [];
    start.after(1000, () => done.push('asked'));
    start.after(2000, () => done.push('given up'));
    vi.advanceTimersByTime(1000);
    start.over();
    vi.advanceTimersByTime(5000);
    expect(done).toEqual(['asked']);
  });
});

describe('x', () => {
  const request = (id: number, characters = 0) => ({
    jsonrpc: '2.0' as const,
    id,
    method: 'ping',
    params: { text: 'x'.repeat(characters) },
  });
  const half = 8 * 1024 * 1024;

  describe('what waits for a process to be ready', () => {
    it('is taken in the order it came, once', () => {
      const queue = new StartQueue();
      for (const id of [3, 1, 2]) expect(queue.push(request(id))).toBe(true);
      expect([queue.has(1), queue.has(4)]).toEqual([true, false]);
      expect(queue.takeAll().map(({ id }) => id)).toEqual([3, 1, 2]);
      expect([queue.takeAll(), queue.has(1)]).toEqual([[], false]);
    });

    it('does not go on where nobody wants it any more', () => {
      const queue = new StartQueue();
      for (const id of [1, 2, 3]) queue.push(request(id));
      expect([queue.remove(2), queue.remove(2)]).toEqual([true, false]);
      expect(queue.takeAll().map(({ id }) => id)).toEqual([1, 3]);
    });

    it('is no more than 16 Mi characters; what was cancelled or taken leaves room (T-156)', () => {
      const queue = new StartQueue();
      expect(queue.push(request(1, half))).toBe(true);
      expect(queue.push(request(2, half))).toBe(false);
      expect(queue.push(request(3))).toBe(true);
      queue.remove(1);
      expect(queue.push(request(4, half))).toBe(true);
      expect(queue.push(request(5, half))).toBe(false);
      queue.takeAll();
      expect(queue.push(request(6, half))).toBe(true);
    });
  });
});
