import { describe, expect, it } from 'vitest';
import { LastWayIn } from '../../../src/storage/identities.ts';
import { type OpenStorage, openForTest, startOfTime } from './subject.ts';
import { commit, dueTokens, issuer, link, putBound } from './upstream.ts';

/** What every store does where an account could lose its last way in. */
export function describeWaysIn(open: OpenStorage): void {
  async function openBound() {
    const storage = await openForTest(open);
    for (const id of ['ada', 'grace']) await putBound(storage, id);
    return storage;
  }

  describe('unlinking', () => {
    it('at two at once leaves an account without a password one of its ways in', async () => {
      const storage = await openBound();
      const other = 'https://other.example';
      await commit(
        storage,
        { type: 'linkIdentity', issuer: other, subject: 'ada', accountId: 'ada', at: startOfTime },
        link('second', 'ada', { upstream: 'other', issuer: other, subject: 'ada' }),
      );
      const { upstreams, identities } = storage;
      const waysIn = [issuer, other];
      const outcomes = await Promise.allSettled([
        upstreams.unlink('link of ada', waysIn),
        upstreams.unlink('second', waysIn),
      ]);
      expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { reason: { name: 'LastWayIn' } }]);
      expect((await upstreams.listOfAccount('ada')).map(({ id }) => id)).toEqual(['second']);
      expect(await dueTokens(storage)).toEqual(['tokens of link of ada']);
      await expect(identities.forget(other, 'ada', waysIn)).rejects.toThrow(LastWayIn);
      expect(await identities.findAccount({ issuer: other, subject: 'ada' })).toBe('ada');
    });

    it('of what was no way in is not refused; nor of one beside a passkey', async () => {
      const storage = await openBound();
      expect(await storage.upstreams.unlink('link of grace', ['https://other.example'])).toBeDefined();
      const passkey = { id: 'key', accountId: 'ada', name: 'key', publicKey: Buffer.from('key') };
      await storage.passkeys.add(
        { ...passkey, counter: 0, isSynced: false, transports: [], createdAt: 1 },
        5,
      );
      expect(await storage.upstreams.unlink('link of ada', [issuer])).toBeDefined();
      await expect(storage.passkeys.remove('ada', 'key', [issuer])).rejects.toThrow(LastWayIn);
      expect(await storage.passkeys.listOf('ada')).toHaveLength(1);
      expect(await storage.passkeys.remove('ada', 'key')).toBe(true);
    });
  });
}
