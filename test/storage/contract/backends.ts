import { describe, expect, it } from 'vitest';
import { type BackendObject, credentialChangeRetentionSeconds } from '../../../src/storage/backends.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { account, artifact, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';

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
      await storage.sweepExpired(nowSeconds + credentialChangeRetentionSeconds + 60);
      expect(await store.changesAfter(0, 10)).toEqual([]);
      expect(await store.lastChange()).toBe(last);
      await store.remove(key('ada'));
      expect(await store.lastChange()).toBe(last + 1);
    });
  });
}

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

/** What every store of pinned definitions does. */
export function describeDefinitionPins(open: OpenStorage): void {
  describe('pinned definitions', () => {
    const read = { kind: 'tool', name: 'read' } as const;

    it('stay as they were first seen, each route’s and each kind’s own (T-160, T-210)', async () => {
      const { definitionPins } = await openForTest(open);
      await definitionPins.add('notes', [{ ...read, hash: 'one', definition: '{}' }], startOfTime);
      await definitionPins.add(
        'notes',
        [
          { ...read, hash: 'two' },
          { kind: 'prompt', name: 'read', hash: 'x' },
        ],
        startOfTime + 1,
      );
      await definitionPins.add('files', [{ ...read, hash: 'three' }], startOfTime);
      expect(await definitionPins.list('notes')).toEqual([
        { route: 'notes', kind: 'prompt', name: 'read', hash: 'x', pinnedAt: startOfTime + 1 },
        { route: 'notes', ...read, hash: 'one', definition: '{}', pinnedAt: startOfTime },
      ]);
      expect(await definitionPins.list()).toHaveLength(3);
    });

    it('have a change noted once, the latest counts, and what they are is none', async () => {
      const { definitionPins } = await openForTest(open);
      await definitionPins.add('notes', [{ ...read, hash: 'one' }], startOfTime);
      const note = (hash: string, at: number) =>
        definitionPins.noteChange('notes', { ...read, hash, definition: `"${hash}"` }, at);
      expect([
        await note('one', 1),
        await note('two', 2),
        await note('two', 3),
        await note('three', 4),
      ]).toEqual([false, true, false, true]);
      const others = [
        { kind: 'tool', name: 'unknown', hash: 'x' },
        { kind: 'prompt', name: 'read', hash: 'x' },
      ] as const;
      for (const other of others) expect(await definitionPins.noteChange('notes', other, 5)).toBe(false);
      expect((await definitionPins.list('notes'))[0]?.changed).toEqual({
        hash: 'three',
        definition: '"three"',
        at: 4,
      });
    });

    it('are accepted as they were looked at, and in no other form', async () => {
      const { definitionPins } = await openForTest(open);
      await definitionPins.add('notes', [{ ...read, hash: 'one' }], startOfTime);
      await definitionPins.noteChange('notes', { ...read, hash: 'two', definition: '2' }, startOfTime);
      const accept = (hash: string, kind: 'tool' | 'prompt' = 'tool') =>
        definitionPins.accept('notes', { ...read, kind, hash }, 9);
      expect([await accept('three'), await accept('two', 'prompt')]).toEqual([false, false]);
      expect([await accept('two'), await accept('two')]).toEqual([true, false]);
      expect(await definitionPins.list('notes')).toEqual([
        { route: 'notes', ...read, hash: 'two', definition: '2', pinnedAt: 9 },
      ]);
    });

    it('get another hash only in place of the one that was named; the rest stays (T-210)', async () => {
      const { definitionPins } = await openForTest(open);
      await definitionPins.add('notes', [{ ...read, hash: 'earlier' }], startOfTime);
      await definitionPins.noteChange('notes', { ...read, hash: 'changed' }, 3);
      const whole = { ...read, hash: 'whole', definition: '{}' };
      expect(await definitionPins.upgrade('notes', whole, 'another')).toBe(false);
      expect(await definitionPins.upgrade('notes', whole, 'earlier')).toBe(true);
      expect(await definitionPins.list('notes')).toEqual([
        { route: 'notes', ...whole, pinnedAt: startOfTime, changed: { hash: 'changed', at: 3 } },
      ]);
    });

    it('are forgotten by name, by kind, or all of a route', async () => {
      const { definitionPins } = await openForTest(open);
      const tools = ['a', 'b', 'c'].map((name) => ({ kind: 'tool', name, hash: name }) as const);
      await definitionPins.add('notes', [...tools, { kind: 'prompt', name: 'b', hash: 'b' }], startOfTime);
      await definitionPins.add('files', tools, startOfTime);
      expect([
        await definitionPins.forget('notes', { name: 'a' }),
        await definitionPins.forget('notes', { kind: 'prompt' }),
        await definitionPins.forget('notes', { name: 'b', kind: 'prompt' }),
        await definitionPins.forget('notes'),
        await definitionPins.forget('x'),
      ]).toEqual([1, 1, 0, 2, 0]);
      expect(await definitionPins.list()).toHaveLength(3);
    });
  });
}
