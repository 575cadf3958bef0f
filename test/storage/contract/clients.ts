import { describe, expect, it } from 'vitest';
import {
  type ClientChange,
  type ClientDocumentRow,
  clientLifetimes,
  documentRetentionSeconds,
  type NewClient,
} from '../../../src/storage/clients.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { account, artifact, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';

/** What every store of clients does. */
export function describeClients(open: OpenStorage): void {
  describe('clients', () => {
    it('are kept, found, changed, and keep the time of their registration', async () => {
      const { clients } = await openForTest(open);
      await clients.put({ id: 'c', payload: payload('first'), createdAt: startOfTime });
      await clients.put({ id: 'c', payload: payload('second'), createdAt: startOfTime + 5 });
      const row = await clients.find('c');
      expect(Buffer.from(row?.payload ?? []).toString()).toBe('second');
      expect(row?.createdAt).toBe(startOfTime);
      expect(await clients.find('d')).toBeUndefined();
    });

    it('are added once under an id, whoever comes second', async () => {
      const { clients } = await openForTest(open);
      const added = await Promise.all(
        ['first', 'second'].map((text) =>
          clients.add({ id: 'c', payload: payload(text), createdAt: startOfTime, origin: 'operator' }),
        ),
      );
      expect(added).toEqual([true, false]);
      expect(Buffer.from((await clients.find('c'))?.payload ?? []).toString()).toBe('first');
    });

    it('are listed oldest first', async () => {
      const { clients } = await openForTest(open);
      for (const [id, age] of [
        ['young', 1],
        ['old', 9],
        ['middle', 5],
      ] as const)
        await clients.put({ id, payload: payload(id), createdAt: startOfTime - age });
      expect((await clients.list()).map(({ id }) => id)).toEqual(['old', 'middle', 'young']);
    });

    it('take grants, tokens and open interactions along when they are removed, and nothing of others (T-103)', async () => {
      const { accounts, artifacts, clients } = await openForTest(open);
      await accounts.add(account('ada'));
      for (const id of ['c', 'd']) {
        await clients.put({ id, payload: payload(id), createdAt: startOfTime });
        await artifacts.commit([
          grant(`${id}-grant`, 'ada', id),
          artifact(`${id}-token`, { grantId: `${id}-grant` }),
          artifact(`${id}-page`, { kind: 'Interaction', clientId: id }),
        ]);
      }
      expect(await clients.remove('c')).toBe(true);
      expect(await clients.remove('c')).toBe(false);
      const left = async (id: string) =>
        [
          await clients.find(id),
          await artifacts.findGrant(`${id}-grant`),
          await artifacts.find('RefreshToken', `${id}-token`),
          await artifacts.find('Interaction', `${id}-page`),
        ].filter((row) => row !== undefined).length;
      expect([await left('c'), await left('d')]).toEqual([0, 4]);
    });

    it('remember who brought them, whoever changes them, and those of the operator are listed alone', async () => {
      const { clients } = await openForTest(open);
      await clients.put({ id: 'self', payload: payload('self'), createdAt: startOfTime });
      await clients.put({ id: 'mine', payload: payload('1'), createdAt: startOfTime, origin: 'operator' });
      await clients.put({ id: 'mine', payload: payload('2'), createdAt: startOfTime });
      await clients.replaceSettings([{ id: 'set', payload: payload('set'), createdAt: startOfTime + 1 }]);
      const origins = (await clients.list()).map(({ id, origin }) => [id, origin]);
      expect(origins).toEqual([
        ['mine', 'operator'],
        ['self', 'registered'],
        ['set', 'settings'],
      ]);
      expect((await clients.listOfOperator()).map(({ id }) => id)).toEqual(['mine', 'set']);
      expect((await clients.find('mine'))?.origin).toBe('operator');
    });

    it('of the settings are replaced as a whole: those left out go with their grants, the others keep theirs', async () => {
      const { accounts, artifacts, clients } = await openForTest(open);
      await accounts.add(account('ada'));
      const row = (id: string, text = id) => ({ id, payload: payload(text), createdAt: startOfTime });
      await clients.put({ ...row('added'), origin: 'operator' });
      expect(await clients.replaceSettings([row('stays'), row('goes')])).toEqual([]);
      for (const id of ['stays', 'goes', 'added'])
        await artifacts.commit([
          grant(`${id}-grant`, 'ada', id),
          artifact(`${id}-own`, { kind: 'AccessToken', clientId: id }),
        ]);
      expect(await clients.replaceSettings([row('stays', 'changed')])).toEqual(['goes']);
      const left = async (id: string) => [
        (await artifacts.findGrant(`${id}-grant`)) !== undefined,
        (await artifacts.find('AccessToken', `${id}-own`)) !== undefined,
      ];
      expect(await left('stays')).toEqual([true, true]);
      expect(await left('goes')).toEqual([false, false]);
      expect(await left('added')).toEqual([true, true]);
      expect(Buffer.from((await clients.find('stays'))?.payload ?? []).toString()).toBe('changed');
      expect((await clients.list()).map(({ id }) => id)).toEqual(['added', 'stays']);
    });

    it('of the settings take an id over from any other, and nothing that was issued under it', async () => {
      const { accounts, artifacts, clients } = await openForTest(open);
      await accounts.add(account('ada'));
      await clients.put({ id: 'c', payload: payload('stranger'), createdAt: startOfTime });
      await artifacts.commit([grant('g', 'ada', 'c'), artifact('t', { grantId: 'g' })]);
      await clients.replaceSettings([{ id: 'c', payload: payload('mine'), createdAt: startOfTime }]);
      expect(await artifacts.findGrant('g')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 't')).toBeUndefined();
      const row = await clients.find('c');
      expect([Buffer.from(row?.payload ?? []).toString(), row?.origin]).toEqual(['mine', 'settings']);
    });

    it('of the operator are not swept, however long they are not used', async () => {
      const { clients, sweepExpired } = await openForTest(open);
      await clients.put({ id: 'c', payload: payload('c'), createdAt: startOfTime, origin: 'operator' });
      await clients.replaceSettings([{ id: 'd', payload: payload('d'), createdAt: startOfTime }]);
      await sweepExpired(startOfTime + 10 * clientLifetimes.afterUseSeconds);
      expect((await clients.list()).map(({ id }) => id)).toEqual(['c', 'd']);
    });

    it('that never got a grant are swept a day after their registration, and not before (T-061)', async () => {
      const { clients, sweepExpired } = await openForTest(open);
      await clients.put({ id: 'c', payload: payload('c'), createdAt: startOfTime });
      await sweepExpired(startOfTime + clientLifetimes.neverUsedSeconds);
      expect(await clients.find('c')).toBeDefined();
      expect(await sweepExpired(startOfTime + clientLifetimes.neverUsedSeconds + 1)).toBe(1);
      expect(await clients.find('c')).toBeUndefined();
    });

    it('are swept in any number, and stay where somebody is at their login page (T-061)', async () => {
      const { artifacts, clients, sweepExpired } = await openForTest(open);
      await Promise.all(
        Array.from({ length: 1200 }, (_, at) =>
          clients.put({ id: `c${at}`, payload: payload('c'), createdAt: startOfTime }),
        ),
      );
      const tomorrow = startOfTime + clientLifetimes.neverUsedSeconds + 1;
      const page = artifact('page', { kind: 'Interaction', clientId: 'c7', expiresAt: tomorrow + 10 });
      await artifacts.commit([page]);
      expect(await sweepExpired(tomorrow)).toBe(1199);
      expect((await clients.list()).map(({ id }) => id)).toEqual(['c7']);
      await sweepExpired(tomorrow + 11);
      expect(await clients.list()).toEqual([]);
    });

    it('stay while they have a grant, and ninety days after their last use without one (T-061)', async () => {
      const { accounts, artifacts, clients, sweepExpired } = await openForTest(open);
      const [day, now] = [86_400, startOfTime];
      await accounts.add(account('ada'));
      for (const id of ['revoked', 'refreshed', 'granted']) {
        await clients.put({ id, payload: payload(id), createdAt: now - 5 * day });
        await artifacts.commit([
          { ...grant(`${id}-grant`, 'ada', id), expiresAt: now + 1000 * day },
          artifact(`${id}-token`, { grantId: `${id}-grant`, expiresAt: now + 1000 * day }),
        ]);
      }
      const left = async () => (await clients.list()).map(({ id }) => id).sort();
      await artifacts.revokeGrant('revoked-grant');
      await sweepExpired(now + 89 * day);
      expect(await left()).toEqual(['granted', 'refreshed', 'revoked']);
      await artifacts.commit([
        { type: 'consume', kind: 'RefreshToken', id: 'refreshed-token', at: now + 80 * day },
      ]);
      await artifacts.revokeGrant('refreshed-grant');
      await sweepExpired(now + 91 * day);
      expect(await left()).toEqual(['granted', 'refreshed']);
      await sweepExpired(now + 169 * day);
      expect(await left()).toEqual(['granted', 'refreshed']);
      await sweepExpired(now + 171 * day);
      expect(await left()).toEqual(['granted']);
    });
  });
}

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

const url = (name: string): string => `https://${name}.example/client.json`;

function document(name: string, fetchedAt = startOfTime, text = name): ClientDocumentRow {
  return { url: url(name), payload: payload(text), fetchedAt, freshUntil: fetchedAt + 60 };
}

/** What every store of client documents does. */
export function describeClientDocuments(open: OpenStorage): void {
  describe('client documents', () => {
    it('are kept, found, and replaced by what was fetched later', async () => {
      const { clientDocuments } = await openForTest(open);
      await clientDocuments.put(document('a'), 10);
      await clientDocuments.put(document('a', startOfTime + 5, 'again'), 10);
      const row = await clientDocuments.find(url('a'));
      expect(row).toMatchObject({ fetchedAt: startOfTime + 5, freshUntil: startOfTime + 65 });
      expect(Buffer.from(row?.payload ?? []).toString()).toBe('again');
      expect(await clientDocuments.find(url('b'))).toBeUndefined();
    });

    it('are forgotten, alone or with all that was issued to their client', async () => {
      const { accounts, artifacts, clientDocuments, clients } = await openForTest(open);
      await accounts.add(account('ada'));
      for (const name of ['a', 'b']) await clientDocuments.put(document(name), 10);
      await clientDocuments.remove(url('a'));
      await artifacts.commit([grant('g', 'ada', url('b'))]);
      expect(await clients.remove(url('b'))).toBe(true);
      expect(await clients.remove(url('b'))).toBe(false);
      expect(await artifacts.findGrant('g')).toBeUndefined();
      expect(await clientDocuments.find(url('a'))).toBeUndefined();
      expect(await clientDocuments.find(url('b'))).toBeUndefined();
    });

    it('are so many and no more: those without a grant go first, the oldest of them before others (T-075)', async () => {
      const { accounts, artifacts, clientDocuments } = await openForTest(open);
      await accounts.add(account('ada'));
      const kept = async (): Promise<string[]> => {
        const names = ['granted', 'old', 'young', 'new', 'newer'];
        const rows = await Promise.all(names.map((name) => clientDocuments.find(url(name))));
        return names.filter((_name, at) => rows[at]);
      };
      await artifacts.commit([grant('g', 'ada', url('granted'))]);
      await clientDocuments.put(document('granted', startOfTime - 9), 3);
      await clientDocuments.put(document('young', startOfTime - 1), 3);
      await clientDocuments.put(document('old', startOfTime - 5), 3);
      expect(await kept()).toEqual(['granted', 'old', 'young']);
      await clientDocuments.put(document('new'), 3);
      expect(await kept()).toEqual(['granted', 'young', 'new']);
      await clientDocuments.put(document('newer', startOfTime - 100), 1);
      expect(await kept()).toEqual(['newer']);
    });

    it('are swept when nobody fetched them for long, and not before', async () => {
      const { clientDocuments, sweepExpired } = await openForTest(open);
      await clientDocuments.put(document('a'), 10);
      expect(await sweepExpired(startOfTime + documentRetentionSeconds)).toBe(0);
      expect(await sweepExpired(startOfTime + documentRetentionSeconds + 1)).toBe(1);
      expect(await clientDocuments.find(url('a'))).toBeUndefined();
    });
  });
}

/** What every store of invitations does. */
export function describeInvitations(open: OpenStorage): void {
  describe('invitations', () => {
    const invitation = { id: 'i', usesLeft: 2, createdAt: startOfTime, expiresAt: startOfTime + 100 };
    const use = (at = startOfTime, id = 'i') => ({ type: 'useInvitation', id, at }) as const;

    it('are used as often as they say and no more, also at once (T-065)', async () => {
      const { artifacts, invitations } = await openForTest(open);
      await invitations.add(invitation);
      expect(await invitations.find('i')).toEqual(invitation);
      const uses = await Promise.all(Array.from({ length: 8 }, () => artifacts.commit([use()])));
      expect(uses.filter(({ committed }) => committed)).toHaveLength(2);
      expect(uses.find(({ committed }) => !committed)).toEqual({
        committed: false,
        conflict: { reason: 'missing', kind: 'InitialAccessToken', id: 'i' },
      });
      expect((await invitations.find('i'))?.usesLeft).toBe(0);
    });

    it('are worth nothing from the second they expire, and are swept (T-065)', async () => {
      const { artifacts, invitations, sweepExpired } = await openForTest(open);
      await invitations.add(invitation);
      expect(await artifacts.commit([use(invitation.expiresAt)])).toMatchObject({ committed: false });
      expect(await artifacts.commit([use(invitation.expiresAt - 1)])).toEqual({ committed: true });
      expect(await artifacts.commit([use(startOfTime, 'other')])).toMatchObject({ committed: false });
      await sweepExpired(invitation.expiresAt);
      expect(await invitations.find('i')).toBeDefined();
      await sweepExpired(invitation.expiresAt + 1);
      expect(await invitations.find('i')).toBeUndefined();
    });
  });
}
