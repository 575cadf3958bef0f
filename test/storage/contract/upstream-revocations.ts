import { describe, expect, it } from 'vitest';
import { type OpenStorage, openForTest, startOfTime } from './subject.ts';
import { putBound } from './upstream.ts';

const day = 86_400;

/** What every store does with tokens that are to be revoked at an upstream. */
export function describeUpstreamRevocations(open: OpenStorage): void {
  async function openDue() {
    const storage = await openForTest(open);
    for (const id of ['ada', 'grace']) {
      await putBound(storage, id);
      await storage.upstreams.endLink(`link of ${id}`, { revoke: true });
    }
    const { upstreams } = storage;
    const due = (at: number, lease = 0) => upstreams.dueRevocations(at, 9, lease);
    return { upstreams, due };
  }

  describe('tokens to be revoked', () => {
    it('are given oldest first, with their link, to one process at a time', async () => {
      const { upstreams, due } = await openDue();
      const rows = await due(startOfTime, 20);
      expect(rows).toEqual([
        {
          id: expect.any(Number),
          upstream: 'idp',
          linkId: 'link of ada',
          accountId: 'ada',
          tokens: Buffer.from('tokens of link of ada'),
          attempts: 0,
        },
        expect.objectContaining({ linkId: 'link of grace' }),
      ]);
      expect(await due(startOfTime + 19)).toEqual([]);
      expect(await upstreams.dueRevocations(startOfTime + 20, 1, 0)).toHaveLength(1);
    });

    it('are forgotten when that is done, and come again at their time when it failed', async () => {
      const { upstreams, due } = await openDue();
      const [first, second] = await due(startOfTime);
      await upstreams.revocationDone(first?.id ?? 0);
      expect(await upstreams.revocationFailed(second?.id ?? 0, startOfTime + 60)).toBe(false);
      expect(await due(startOfTime + 59)).toEqual([]);
      expect(await due(startOfTime + 60)).toEqual([{ ...second, attempts: 1 }]);
    });

    it('are given up and forgotten a day after they were tried first, not after they were left to be revoked', async () => {
      const { upstreams, due } = await openDue();
      const late = startOfTime + 9 * day;
      const [first, second] = await due(late);
      await due(late + 60);
      expect(await upstreams.revocationFailed(first?.id ?? 0, late + day)).toBe(false);
      expect(await upstreams.revocationFailed(second?.id ?? 0, late + day + 1)).toBe(true);
      expect(await due(late + 2 * day)).toMatchObject([{ id: first?.id }]);
      expect(await upstreams.revocationFailed(second?.id ?? 0, late)).toBe(false);
    });
  });
}
