import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/storage/artifacts.ts';
import { account, artifact, grant, type OpenStorage, openForTest, startOfTime } from './subject.ts';

/** What every storage does with several changes at once, and with what has expired. */
export function describeCommits(open: OpenStorage): void {
  describe('a commit', () => {
    it('without changes succeeds', async () => {
      const { artifacts } = await openForTest(open);
      expect(await artifacts.commit([])).toEqual({ committed: true });
    });

    it('carries out its changes in their order', async () => {
      const { accounts, artifacts } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([
        grant('g'),
        artifact('t', { grantId: 'g' }),
        { type: 'remove', kind: 'RefreshToken', id: 't', mustExist: true },
        artifact('t', { grantId: 'g', expiresAt: 9 }),
      ]);
      expect(await artifacts.find('RefreshToken', 't')).toMatchObject({ expiresAt: 9, revision: 0 });
    });

    it.each<[string, Change]>([
      ['uses up what is used up', { type: 'consume', kind: 'RefreshToken', id: 'used', at: startOfTime }],
      ['removes what is gone', { type: 'remove', kind: 'RefreshToken', id: 'gone', mustExist: true }],
      ['writes over another revision', artifact('used', { ifRevision: 7 })],
      ['hangs a row on a grant that is gone', artifact('child', { grantId: 'gone' })],
      ['hangs a row on an account that is gone', artifact('child', { accountId: 'gone' })],
      ['hangs a grant on an account that is gone', grant('child', 'gone')],
    ])('that %s changes nothing at all (T-164)', async (_fault, change) => {
      const { accounts, artifacts } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([grant('g'), artifact('used', { grantId: 'g' })]);
      await artifacts.commit([{ type: 'consume', kind: 'RefreshToken', id: 'used', at: 1 }]);
      const result = await artifacts.commit([
        grant('new'),
        artifact('before', { grantId: 'new' }),
        { type: 'removeGrant', id: 'g' },
        change,
        artifact('after', { grantId: 'new' }),
      ]);
      expect(result.committed).toBe(false);
      expect(await artifacts.findGrant('new')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'before')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'after')).toBeUndefined();
      expect(await artifacts.findGrant('g')).toBeDefined();
    });

    it('hangs nothing on the grant that takes the place of one it ended', async () => {
      const { accounts, artifacts } = await openForTest(open);
      await accounts.add(account('ada'));
      const result = await artifacts.commit([
        grant('g'),
        artifact('t', { grantId: 'g' }),
        { type: 'removeGrant', id: 'g' },
        grant('h'),
        artifact('u', { grantId: 'g' }),
      ]);
      expect(result).toMatchObject({ committed: false, conflict: { reason: 'orphan' } });
    });

    it('for somebody whose password is another by now changes nothing (T-103, T-166)', async () => {
      const { accounts, artifacts } = await openForTest(open);
      await accounts.add(account('ada'));
      const logIn = (accountId: string, passwordHash: string) =>
        artifacts.commit([artifact('s'), { type: 'requirePassword', accountId, passwordHash }]);
      const refused = { committed: false, conflict: { reason: 'orphan', kind: 'Account' } };
      expect(await logIn('ada', 'a former hash')).toEqual(refused);
      expect(await logIn('grace', 'hash of ada')).toEqual(refused);
      expect(await artifacts.find('RefreshToken', 's')).toBeUndefined();
      expect(await logIn('ada', 'hash of ada')).toEqual({ committed: true });
    });

    it('names an orphan by its kind', async () => {
      const { artifacts } = await openForTest(open);
      expect(await artifacts.commit([artifact('t', { grantId: 'gone' })])).toEqual({
        committed: false,
        conflict: { reason: 'orphan', kind: 'RefreshToken' },
      });
      expect(await artifacts.commit([grant('g', 'gone')])).toEqual({
        committed: false,
        conflict: { reason: 'orphan', kind: 'Grant' },
      });
    });

    it('that would hang a row on a grant that is gone is refused, and says of one that went with it that it changed', async () => {
      const { artifacts } = await openForTest(open);
      await artifacts.commit([artifact('t')]);
      const put = (id: string) => artifacts.commit([artifact(id, { grantId: 'gone', ifPresent: true })]);
      const conflict = { kind: 'RefreshToken' };
      expect(await put('t')).toEqual({ committed: false, conflict: { ...conflict, reason: 'orphan' } });
      expect(await put('u')).toEqual({
        committed: false,
        conflict: { ...conflict, reason: 'changed', id: 'u' },
      });
    });

    it('that conflicts leaves alone those that arrive with it', async () => {
      const { accounts, artifacts } = await openForTest(open);
      await accounts.add(account('ada'));
      const results = await Promise.all([
        artifacts.commit([artifact('one')]),
        artifacts.commit([artifact('lost'), artifact('orphan', { grantId: 'gone' })]),
        artifacts.commit([artifact('two')]),
      ]);
      expect(results.map((result) => result.committed)).toEqual([true, false, true]);
      expect(await artifacts.find('RefreshToken', 'one')).toBeDefined();
      expect(await artifacts.find('RefreshToken', 'two')).toBeDefined();
      expect(await artifacts.find('RefreshToken', 'lost')).toBeUndefined();
    });

    it('after the grant was revoked at the same time gives no token', async () => {
      const { accounts, artifacts } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([grant('g')]);
      const [, late] = await Promise.all([
        artifacts.revokeGrant('g'),
        artifacts.commit([artifact('t', { grantId: 'g' })]),
      ]);
      expect(late.committed).toBe(false);
      expect(await artifacts.find('RefreshToken', 't')).toBeUndefined();
    });
  });

  describe('a sweep', () => {
    it('removes what has expired, grants with what hangs on them, and nothing else', async () => {
      const { accounts, artifacts, sweepExpired } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([
        grant('alive'),
        { ...grant('over'), expiresAt: startOfTime - 1 },
        artifact('alive', { grantId: 'alive', expiresAt: startOfTime }),
        artifact('over', { grantId: 'alive', expiresAt: startOfTime - 1 }),
        artifact('orphan', { grantId: 'over' }),
      ]);
      expect(await sweepExpired(startOfTime)).toBeGreaterThanOrEqual(2);
      expect(await artifacts.findGrant('alive')).toBeDefined();
      expect(await artifacts.find('RefreshToken', 'alive')).toBeDefined();
      expect(await artifacts.findGrant('over')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'over')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'orphan')).toBeUndefined();
      expect(await sweepExpired(startOfTime)).toBe(0);
    });

    it('of many rows lets others write in between (T-180)', async () => {
      const { artifacts, sweepExpired } = await openForTest(open);
      const expired = Array.from({ length: 3000 }, (_, index) => artifact(`old-${index}`, { expiresAt: 1 }));
      await artifacts.commit(expired);
      const order: string[] = [];
      const sweep = sweepExpired(startOfTime).then((rows) => {
        order.push('swept');
        return rows;
      });
      for (let index = 0; index < 3; index++)
        await artifacts.commit([artifact(`new-${index}`)]).then(() => order.push('written'));
      expect(await sweep).toBe(3000);
      expect(order).toEqual(['written', 'written', 'written', 'swept']);
    });
  });

  describe('the whole', () => {
    it('answers a ping while it is open', async () => {
      const storage = await openForTest(open);
      await expect(storage.ping()).resolves.toBeUndefined();
      await expect(storage.probeWrite()).resolves.toBeUndefined();
    });

    it('finishes what was begun before it closes', async () => {
      const storage = await open();
      const write = storage.artifacts.commit([artifact('t')]);
      await storage.close();
      expect(await write).toEqual({ committed: true });
    });
  });
}
