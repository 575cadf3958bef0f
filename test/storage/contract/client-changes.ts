import { describe, expect, it } from 'vitest';
import { type ClientChange, clientLifetimes, type NewClient } from '../../../src/storage/clients.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { account, artifact, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';

const day = 86_400;

function client(id: string, more: Partial<NewClient> = {}): NewClient {
  return { id, payload: payload(id), createdAt: startOfTime, ...more };
}

function put(id: string, more: Partial<NewClient> = {}, maxUnused = 1000): ClientChange {
  return { type: 'putClient', client: client(id, more), maxUnused };
}

async function ids({ clients }: Storage): Promise<string[]> {
  return (await clients.list()).map(({ id }) => id);
}

/** What every store does with the changes of clients that a commit carries out. */
export function describeClientChanges(open: OpenStorage): void {
  describe('changes of clients', () => {
    it('stand or fall with the rest of their commit', async () => {
      const { artifacts, clients } = await openForTest(open);
      const refused = await artifacts.commit([
        put('c'),
        { type: 'requireRegistrationToken', clientId: 'c', hash: 'none' },
      ]);
      expect(refused).toEqual({
        committed: false,
        conflict: { reason: 'missing', kind: 'RegistrationAccessToken', id: 'none' },
      });
      expect(await clients.find('c')).toBeUndefined();
      expect(await artifacts.commit([put('c')])).toEqual({ committed: true });
      expect(await clients.find('c')).toMatchObject({ id: 'c', status: 'approved' });
    });

    it('keep no more unused clients than they may at any time, also where commits are refused in between (T-061)', async () => {
      const storage = await openForTest(open);
      const { artifacts } = storage;
      const refused: ClientChange = { type: 'requireRegistrationToken', clientId: 'none', hash: 'none' };
      const kept: number[] = [];
      for (let at = 0; at < 320; at++) {
        const change = put(`c${String(at).padStart(3, '0')}`, { createdAt: startOfTime + at }, 300);
        if (at % 5 === 0) await artifacts.commit([change, refused]);
        await artifacts.commit([change]);
        if (at >= 290) kept.push((await ids(storage)).length);
      }
      expect(Math.max(...kept)).toBe(300);
      expect(Math.min(...kept.slice(10))).toBeGreaterThanOrEqual(297);
      expect(await ids(storage)).toContain('c319');
      expect(await ids(storage)).not.toContain('c019');
    });

    it('make room for all that are stored at once, and among none of these (T-061)', async () => {
      const storage = await openForTest(open);
      const { artifacts } = storage;
      for (const id of ['c1', 'c2', 'c3']) await artifacts.commit([put(id, {}, 3)]);
      const older = { createdAt: startOfTime - 1 };
      await Promise.all(['d1', 'd2', 'd3'].map((id) => artifacts.commit([put(id, older, 3)])));
      expect((await ids(storage)).sort()).toEqual(['d1', 'd2', 'd3']);
    });

    it('make room among clients that nobody used, oldest first, and touch no others (T-061)', async () => {
      const storage = await openForTest(open);
      const { accounts, artifacts, clients } = storage;
      await accounts.add(account('ada'));
      await artifacts.commit([
        put('used', { createdAt: startOfTime - 9 }),
        grant('g', 'ada', 'used'),
        put('decided', { createdAt: startOfTime - 7 }),
        put('open', { createdAt: startOfTime - 6 }),
        artifact('page', { kind: 'Interaction', clientId: 'open' }),
      ]);
      await clients.decide('decided', 'approved', startOfTime);
      for (const id of ['c1', 'c2', 'c3', 'c4'])
        await artifacts.commit([put(id, { createdAt: startOfTime + Number(id[1]) }, 3)]);
      expect(await ids(storage)).toEqual(['used', 'decided', 'open', 'c3', 'c4']);
      await artifacts.commit([put('c3', { payload: payload('changed') }, 1)]);
      expect(await ids(storage)).toContain('c4');
    });

    it('keep a client at its first consent once, and never one that was removed', async () => {
      const { artifacts, clients } = await openForTest(open);
      const keep = (text: string): ClientChange => ({
        type: 'keepClient',
        client: client('c', { payload: payload(text) }),
      });
      await artifacts.commit([keep('first')]);
      await artifacts.commit([keep('second')]);
      expect(Buffer.from((await clients.find('c'))?.payload ?? []).toString()).toBe('first');
      expect(await clients.remove('c', startOfTime)).toBe(true);
      expect(await artifacts.commit([keep('third')])).toMatchObject({ committed: false });
      expect([await clients.find('c'), await clients.wasRemoved('c')]).toEqual([undefined, true]);
    });

    it('remember a removed id for as long as it could come back, whether it was kept or not', async () => {
      const storage = await openForTest(open);
      const { clients, sweepExpired } = storage;
      expect(await clients.remove('never-kept', startOfTime)).toBe(true);
      expect(await clients.remove('never-kept', startOfTime)).toBe(false);
      expect(await clients.decide('never-kept', 'approved', startOfTime)).toBe(false);
      expect(await ids(storage)).toEqual([]);
      await sweepExpired(startOfTime + clientLifetimes.neverUsedSeconds);
      expect(await clients.wasRemoved('never-kept')).toBe(true);
      await sweepExpired(startOfTime + clientLifetimes.neverUsedSeconds + 1);
      expect(await clients.wasRemoved('never-kept')).toBe(false);
    });

    it('end the grants and open pages of a client, and leave it there', async () => {
      const { accounts, artifacts, clients } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([
        put('c'),
        grant('g', 'ada', 'c'),
        artifact('t', { grantId: 'g' }),
        artifact('page', { kind: 'Interaction', clientId: 'c' }),
      ]);
      await artifacts.commit([{ type: 'endClient', id: 'c' }]);
      expect(await artifacts.find('RefreshToken', 't')).toBeUndefined();
      expect(await artifacts.find('Interaction', 'page')).toBeUndefined();
      expect(await clients.find('c')).toBeDefined();
      await artifacts.commit([grant('h', 'ada', 'c'), { type: 'removeClient', id: 'c' }]);
      expect([await artifacts.findGrant('h'), await clients.find('c')]).toEqual([undefined, undefined]);
    });

    it('know a client by its registration token, the newest one alone (T-064)', async () => {
      const { artifacts, clients } = await openForTest(open);
      const set = (hash: string): ClientChange => ({ type: 'setRegistrationToken', clientId: 'c', hash });
      const need = (hash: string): ClientChange => ({
        type: 'requireRegistrationToken',
        clientId: 'c',
        hash,
      });
      await artifacts.commit([put('c'), put('d'), set('one')]);
      expect((await clients.findByToken('one'))?.id).toBe('c');
      const rotations = await Promise.all(
        ['two', 'three', 'four'].map((hash) => artifacts.commit([need('one'), set(hash)])),
      );
      expect(rotations.filter(({ committed }) => committed)).toHaveLength(1);
      expect(await clients.findByToken('one')).toBeUndefined();
      await artifacts.commit([{ type: 'removeClient', id: 'c' }]);
      expect(await clients.findByToken('two')).toBeUndefined();
    });
  });

  describe('the use of a client', () => {
    it('is noted the first time and then once a day, also without a grant; a client that is not there is none', async () => {
      const storage = await openForTest(open);
      const { artifacts, clients } = storage;
      await artifacts.commit([put('c')]);
      const usedAt = async (at: number) => {
        await artifacts.commit([{ type: 'useClient', clientId: 'c', at }]);
        return (await clients.find('c'))?.usedAt;
      };
      expect(await usedAt(startOfTime)).toBe(startOfTime);
      expect(await usedAt(startOfTime + day)).toBe(startOfTime);
      expect(await usedAt(startOfTime + day + 1)).toBe(startOfTime + day + 1);
      const none: ClientChange = { type: 'useClient', clientId: 'none', at: startOfTime };
      expect(await artifacts.commit([none])).toEqual({ committed: true });
      expect(await ids(storage)).toEqual(['c']);
    });
  });

  describe('decisions about clients', () => {
    it('approve and deny, and a denied client loses its grants and open pages', async () => {
      const { accounts, artifacts, clients } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([put('c', { status: 'pending' })]);
      expect((await clients.find('c'))?.status).toBe('pending');
      expect(await clients.decide('c', 'approved', startOfTime)).toBe(true);
      await artifacts.commit([grant('g', 'ada', 'c'), artifact('page', { clientId: 'c' })]);
      expect((await clients.list())[0]).toMatchObject({ status: 'approved', grants: 1, usedAt: startOfTime });
      expect(await clients.decide('c', 'denied', startOfTime)).toBe(true);
      expect(await artifacts.findGrant('g')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'page')).toBeUndefined();
      expect((await clients.list())[0]).toMatchObject({ status: 'denied', grants: 0 });
      expect(await clients.decide('none', 'approved', startOfTime)).toBe(false);
    });

    it('are waited for a week, and a decided client is kept for ninety days unused (T-061)', async () => {
      const storage = await openForTest(open);
      await storage.artifacts.commit([
        put('waits', { status: 'pending' }),
        put('decided', { status: 'pending' }),
      ]);
      await storage.clients.decide('decided', 'approved', startOfTime + 6 * day);
      await storage.sweepExpired(startOfTime + clientLifetimes.pendingSeconds);
      expect(await ids(storage)).toEqual(['decided', 'waits']);
      await storage.sweepExpired(startOfTime + clientLifetimes.pendingSeconds + 1);
      expect(await ids(storage)).toEqual(['decided']);
      await storage.sweepExpired(startOfTime + 96 * day);
      expect(await ids(storage)).toEqual(['decided']);
      await storage.sweepExpired(startOfTime + 96 * day + 1);
      expect(await ids(storage)).toEqual([]);
    });
  });
}
