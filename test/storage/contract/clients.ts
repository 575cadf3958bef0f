import { describe, expect, it } from 'vitest';
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
  });
}
