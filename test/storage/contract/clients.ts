import { describe, expect, it } from 'vitest';
import { clientLifetimes } from '../../../src/storage/clients.ts';
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
