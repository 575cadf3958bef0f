import { describe, expect, it } from 'vitest';
import { watchBody } from '../../../src/client/exchanges/watch-body.ts';

function watched(chunks: readonly string[], maxBytes: number, end: 'closes' | 'stays' | 'fails' = 'closes') {
  const seen: [string, boolean, boolean][] = [];
  const events: string[] = [];
  let pulled = 0;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        const next = chunks[pulled++];
        if (next !== undefined) controller.enqueue(new TextEncoder().encode(next));
        else if (end === 'fails') controller.error(new Error('cut'));
        else if (end === 'closes') controller.close();
      },
      cancel: () => void events.push('source cancelled'),
    },
    { highWaterMark: 0 },
  );
  const body = watchBody(source, maxBytes, {
    text: (...what) => void seen.push(what),
    failed: (error) => void events.push(`failed: ${(error as Error).message}`),
    over: () => void events.push('over'),
  });
  return { body, seen, events, pulled: () => pulled };
}

describe('a watched body', () => {
  it('reaches its reader whole, and is shown as it passes', async () => {
    const { body, seen, events } = watched(['ab', 'cd'], 100);
    expect(await new Response(body).text()).toBe('abcd');
    expect(seen).toEqual([
      ['ab', false, false],
      ['abcd', false, false],
      ['abcd', true, false],
    ]);
    expect(events).toEqual(['over']);
  });

  it('is kept up to the limit only, and never said to be complete beyond it (T-189)', async () => {
    const { body, seen } = watched(['abc', 'def', 'ghi'], 4);
    expect(await new Response(body).text()).toBe('abcdefghi');
    expect(seen.at(-1)).toEqual(['abcd', false, true]);
  });

  it('is read no faster than its reader reads', async () => {
    const { body, pulled } = watched(['a', 'b', 'c'], 100, 'stays');
    await Promise.resolve();
    expect(pulled()).toBe(0);
    const reader = body.getReader();
    await reader.read();
    expect(pulled()).toBe(1);
    await reader.cancel();
  });

  it('is cancelled at its source when its reader goes away', async () => {
    const { body, events } = watched(['a'], 100, 'stays');
    const reader = body.getReader();
    await reader.read();
    await reader.cancel();
    expect(events).toEqual(['over', 'source cancelled']);
  });

  it('passes a failure on', async () => {
    const { body, events } = watched(['a'], 100, 'fails');
    await expect(new Response(body).text()).rejects.toThrow('cut');
    expect(events).toEqual(['failed: cut', 'over']);
  });
});
