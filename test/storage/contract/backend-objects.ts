import { describe, expect, it } from 'vitest';
import type { BackendObject } from '../../../src/storage/backend-objects.ts';
import { account, artifact, grant, type OpenStorage, openForTest, startOfTime } from './subject.ts';

const mostOfOne = 3;

function object(key: string, more: Partial<BackendObject> = {}): BackendObject {
  return {
    key,
    route: 'notes',
    principal: 'ada at client',
    clientId: 'client',
    grantId: 'g',
    createdAt: startOfTime,
    expiresAt: startOfTime + 60,
    ...more,
  };
}

async function openWithGrant(open: OpenStorage) {
  const storage = await openForTest(open);
  await storage.accounts.add(account('ada'));
  await storage.artifacts.commit([grant('g'), artifact('token', { grantId: 'g' })]);
  return storage;
}

/** What every store of owners of backends' objects does. */
export function describeBackendObjects(open: OpenStorage): void {
  describe('owners of backends’ objects', () => {
    it('An object belongs to the principal that it was stored for first, until it expires (FA-03, T-203)', async () => {
      const { backendObjects } = await openWithGrant(open);
      expect(await backendObjects.add(object('k'), mostOfOne)).toBe('added');
      expect(await backendObjects.add(object('k', { principal: 'bob' }), mostOfOne)).toBe('taken');
      expect(await backendObjects.filterOwned(['k', 'x'], 'ada at client', startOfTime)).toEqual(['k']);
      expect(await backendObjects.filterOwned(['k'], 'bob', startOfTime)).toEqual([]);
      expect(await backendObjects.filterOwned(['k'], 'ada at client', startOfTime + 60)).toEqual([]);
      const later = object('k', {
        principal: 'bob',
        createdAt: startOfTime + 60,
        expiresAt: startOfTime + 90,
      });
      expect(await backendObjects.add(later, mostOfOne)).toBe('added');
      expect(await backendObjects.filterOwned(['k'], 'bob', startOfTime + 60)).toEqual(['k']);
    });

    it('A principal owns no more objects of a route than its bound (T-203)', async () => {
      const { backendObjects } = await openWithGrant(open);
      const outcomes: string[] = [];
      for (const key of ['a', 'b', 'c', 'd', 'a'])
        outcomes.push(await backendObjects.add(object(key), mostOfOne));
      expect(outcomes).toEqual(['added', 'added', 'added', 'full', 'added']);
      expect(await backendObjects.add(object('e', { route: 'files' }), mostOfOne)).toBe('added');
    });

    it('An owner is removed with its grant and with its account, and a grant that has ended owns nothing (T-203)', async () => {
      const { accounts, artifacts, backendObjects } = await openWithGrant(open);
      await artifacts.commit([grant('other')]);
      await backendObjects.add(object('k'), mostOfOne);
      await backendObjects.add(object('l', { grantId: 'other' }), mostOfOne);
      const mark = await backendObjects.removalMark();
      await artifacts.commit([{ type: 'removeGrant', id: 'g' }]);
      expect(await backendObjects.removalMark()).not.toBe(mark);
      expect(await backendObjects.filterPresent(['k', 'l'])).toEqual(['l']);
      expect(await backendObjects.add(object('m'), mostOfOne)).toBe('ended');
      await accounts.remove('ada');
      expect(await backendObjects.filterPresent(['k', 'l'])).toEqual([]);
    });

    it('Objects of a client that acts for itself are removed with the client, and those of others stay (T-203)', async () => {
      const { artifacts, backendObjects } = await openWithGrant(open);
      for (const clientId of ['client', 'another'])
        await backendObjects.add(object(clientId, { clientId, grantId: undefined }), mostOfOne);
      await artifacts.commit([{ type: 'endClient', id: 'client' }]);
      expect(await backendObjects.filterPresent(['client', 'another'])).toEqual(['another']);
    });

    it('Expired owners are swept, and an owner can be removed', async () => {
      const { backendObjects, sweepExpired } = await openWithGrant(open);
      await backendObjects.add(object('short', { expiresAt: startOfTime + 1 }), mostOfOne);
      await backendObjects.add(object('long'), mostOfOne);
      await backendObjects.add(object('removed'), mostOfOne);
      await backendObjects.remove('removed');
      expect(await backendObjects.filterPresent(['short', 'long', 'removed'])).toEqual(['long', 'short']);
      expect(await sweepExpired(startOfTime + 2)).toBe(1);
      expect(await backendObjects.filterPresent(['short', 'long'])).toEqual(['long']);
    });
  });
}
