import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProcessStart } from '../../../src/gateway/backends/process-start.ts';
import type { StdioProcess } from '../../../src/gateway/backends/stdio-process.ts';

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
