import { describe, expect, it } from 'vitest';
import { StartQueue } from '../../../src/gateway/backends/start-queue.ts';

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
