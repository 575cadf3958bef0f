import { describe, expect, it } from 'vitest';
import { credentialChangeKeptSeconds } from '../../../src/storage/backend-credentials.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { account, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';

async function withPeople(open: OpenStorage): Promise<Storage> {
  const storage = await openForTest(open);
  for (const id of ['ada', 'grace']) await storage.accounts.add(account(id));
  return storage;
}

const key = (accountId: string, route = 'notion', name = 'apiKey') => ({ accountId, route, name });

/** What every store of credentials for backends does. */
export function describeBackendCredentials(open: OpenStorage): void {
  describe('credentials for backends', () => {
    it('are each account’s own, by route and name (T-158)', async () => {
      const { backendCredentials: store } = await withPeople(open);
      expect(await store.put(key('ada'), payload('of ada'), startOfTime)).toBe(true);
      expect(await store.put(key('grace'), payload('of grace'), startOfTime)).toBe(true);
      expect(await store.put(key('ada', 'files'), payload('for files'), startOfTime + 1)).toBe(true);
      const found = await Promise.all(
        [key('ada'), key('grace'), key('ada', 'files'), key('grace', 'files'), key('ada', 'notion', 'x')].map(
          async (one) => (await store.find(one))?.toString(),
        ),
      );
      expect(found).toEqual(['of ada', 'of grace', 'for files', undefined, undefined]);
      expect(await store.listOf('ada')).toEqual([
        { ...key('ada', 'files'), enteredAt: startOfTime + 1 },
        { ...key('ada'), enteredAt: startOfTime },
      ]);
    });

    it('are replaced by the next one, and removed once', async () => {
      const { backendCredentials: store } = await withPeople(open);
      for (const text of ['old', 'new']) await store.put(key('ada'), payload(text), startOfTime);
      expect((await store.find(key('ada')))?.toString()).toBe('new');
      expect(await Promise.all([store.remove(key('ada')), store.remove(key('ada'))])).toEqual([true, false]);
      expect(await store.find(key('ada'))).toBeUndefined();
    });

    it('go with their account, and are kept for nobody who is gone', async () => {
      const { backendCredentials: store, accounts } = await withPeople(open);
      await store.put(key('ada'), payload('of ada'), startOfTime);
      await accounts.remove('ada');
      expect(await store.find(key('ada'))).toBeUndefined();
      expect(await store.put(key('ada'), payload('late'), startOfTime)).toBe(false);
    });

    it('tell each change in order, that they went with their account included', async () => {
      const { backendCredentials: store, accounts } = await withPeople(open);
      const begin = await store.lastChange();
      await store.put(key('ada'), payload('one'), startOfTime);
      await store.put(key('grace', 'files'), payload('other'), startOfTime);
      await store.put(key('ada'), payload('two'), startOfTime);
      await store.remove(key('grace', 'files'));
      await accounts.remove('ada');
      const told = await store.changesAfter(begin, 10);
      expect(told.map(({ accountId, route }) => [accountId, route])).toEqual([
        ['ada', 'notion'],
        ['grace', 'files'],
        ['ada', 'notion'],
        ['grace', 'files'],
        ['ada', 'notion'],
      ]);
      expect(told.at(-1)?.position).toBe(await store.lastChange());
      expect(await store.changesAfter(begin, 2)).toEqual(told.slice(0, 2));
      expect(await store.changesAfter(told[2]?.position ?? 0, 10)).toEqual(told.slice(3));
    });

    it('forget old changes, and give no position again', async () => {
      const storage = await withPeople(open);
      const { backendCredentials: store } = storage;
      await store.put(key('ada'), payload('one'), startOfTime);
      const last = await store.lastChange();
      const nowSeconds = Math.floor(Date.now() / 1000);
      await storage.sweepExpired(nowSeconds);
      expect(await store.changesAfter(0, 10)).toHaveLength(1);
      await storage.sweepExpired(nowSeconds + credentialChangeKeptSeconds + 60);
      expect(await store.changesAfter(0, 10)).toEqual([]);
      expect(await store.lastChange()).toBe(last);
      await store.remove(key('ada'));
      expect(await store.lastChange()).toBe(last + 1);
    });
  });
}
