import { describe, expect, it } from 'vitest';
import { type OpenStorage, openForTest } from './subject.ts';

/** What every storage does with the positions of exports. */
export function describeExports(open: OpenStorage): void {
  describe('the positions of exports', () => {
    it('are taken by one process at a time, which continues where the last one ended', async () => {
      const { exports } = await openForTest(open);
      const take = (writer: string, nowMs: number) => exports.take('siem', writer, nowMs, 100);
      const none = { ledger: '', calls: 0, audit: 0 };
      const first = await Promise.all([take('a', 1_000), take('b', 1_000)]);
      expect(first.filter(Boolean)).toEqual([none]);
      const [owner, other] = first[0] ? (['a', 'b'] as const) : (['b', 'a'] as const);
      const reached = { ledger: 'l', calls: 7, audit: 9 };
      expect(await exports.save('siem', owner, reached)).toBe(true);
      expect(await exports.save('siem', other, { ledger: 'm', calls: 99, audit: 99 })).toBe(false);
      expect(await take(owner, 1_050)).toEqual(reached);
      expect(await take(other, 1_150)).toBeUndefined();
      expect(await take(other, 1_151)).toEqual(reached);
      expect(await take(owner, 1_151)).toBeUndefined();
      expect(await exports.save('siem', owner, reached)).toBe(false);
      expect(await exports.take('another', owner, 1_151, 100)).toEqual(none);
    });

    it('are not held by a process whose clock was more than ten minutes ahead', async () => {
      const { exports } = await openForTest(open);
      const tenMinutesMs = 600_000;
      await exports.take('siem', 'ahead', 1_000, tenMinutesMs);
      expect(await exports.take('siem', 'b', 1_000, 100)).toBeUndefined();
      await exports.take('siem', 'ahead', 1_001, tenMinutesMs);
      expect(await exports.take('siem', 'b', 1_000, 100)).toEqual({ ledger: '', calls: 0, audit: 0 });
    });
  });
}
