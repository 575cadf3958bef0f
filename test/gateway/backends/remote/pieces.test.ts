import { describe, expect, it } from 'vitest';
import { Pieces } from '../../../../src/gateway/backends/remote/pieces.ts';
import { collectGarbage } from '../../../support/garbage.ts';

/** Memory in use that is no garbage, in bytes. */
function held(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('pieces', () => {
  it('are what came, in its order, whatever their sizes, and begin anew once they are taken', () => {
    const pieces = new Pieces();
    expect(pieces.isEmpty).toBe(true);
    for (const sizes of [[], [5], [1, 1, 1], [3000, 1, 2, 3000, 0, 7], Array(40).fill(1000), [0, 1, 0]]) {
      const parts = sizes.map((size, at) => Buffer.alloc(size, at + 1));
      for (const part of parts) pieces.add(part);
      expect(pieces.isEmpty).toBe(Buffer.concat(parts).length === 0);
      expect(pieces.take().equals(Buffer.concat(parts))).toBe(true);
      expect(pieces.isEmpty).toBe(true);
    }
  });

  it('that were taken stay as they were while others come', () => {
    const pieces = new Pieces();
    const taken = [1, 2, 3].map((fill) => {
      for (let count = 0; count < 10; count++) pieces.add(Buffer.alloc(10, fill));
      return pieces.take();
    });
    expect(taken.map((bytes) => new Set(bytes))).toEqual([new Set([1]), new Set([2]), new Set([3])]);
  });

  it('of one byte each take up little more than their length (T-157)', () => {
    const pieces = new Pieces();
    const before = held();
    for (let count = 0; count < 500_000; count++) pieces.add(Buffer.from('a'));
    expect(held() - before).toBeLessThan(10_000_000);
    expect(pieces.take()).toHaveLength(500_000);
  });
});
