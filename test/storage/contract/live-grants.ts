import { describe, expect, it } from 'vitest';
import { accessTokenKeptSeconds, keptAfterUseSeconds } from '../../../src/storage/artifacts.ts';
import { account, artifact, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';

/** What every store tells of the grants under which something can still be used. */
export function describeLiveGrants(open: OpenStorage): void {
  async function openArtifacts() {
    const { accounts, artifacts } = await openForTest(open);
    for (const id of ['ada', 'grace']) await accounts.add(account(id));
    const idsAt = async (at: number) =>
      (await artifacts.listLiveGrants('ada', 'client', at)).map(({ id }) => id);
    return { artifacts, idsAt };
  }

  describe('the live grants of an account to a client', () => {
    it('are told, the newest first, and none of another account or client (T-103)', async () => {
      const { artifacts } = await openArtifacts();
      const ids = ['short', 'long', 'of another client', 'of another account'];
      await artifacts.commit([
        { ...grant('long'), expiresAt: startOfTime + 500 },
        grant('short'),
        grant('of another client', 'ada', 'another'),
        grant('of another account', 'grace'),
        ...ids.map((id) => artifact(`token ${id}`, { grantId: id })),
      ]);
      const row = (id: string, expiresAt: number) => ({
        id,
        clientId: 'client',
        payload: payload(`grant ${id}`),
        expiresAt,
      });
      expect(await artifacts.listLiveGrants('ada', 'client', startOfTime)).toEqual([
        row('short', startOfTime + 100),
        row('long', startOfTime + 500),
      ]);
      expect(await artifacts.listLiveGrants('nobody', 'client', startOfTime)).toEqual([]);
    });

    it('are told up to a limit, which counts none under which nothing can be used', async () => {
      const { artifacts } = await openArtifacts();
      await artifacts.commit([
        grant('z'),
        { ...grant('m'), expiresAt: startOfTime + 500 },
        ...['a', 'used', 'none'].map((id) => grant(id)),
        ...['z', 'm', 'a', 'used'].map((id) => artifact(`token ${id}`, { grantId: id })),
      ]);
      await artifacts.commit([{ type: 'consume', kind: 'RefreshToken', id: 'token used', at: startOfTime }]);
      const newest = await artifacts.listLiveGrants('ada', 'client', startOfTime, 2);
      expect(newest.map(({ id }) => id)).toEqual(['a', 'm']);
    });

    it('are those that have not expired and were not revoked', async () => {
      const { artifacts, idsAt } = await openArtifacts();
      await artifacts.commit([
        grant('g'),
        grant('h'),
        artifact('of g', { grantId: 'g', expiresAt: startOfTime + 1000 }),
        artifact('of h', { grantId: 'h' }),
      ]);
      await artifacts.revokeGrant('h');
      expect(await idsAt(startOfTime + 99)).toEqual(['g']);
      expect(await idsAt(startOfTime + 100)).toEqual([]);
    });

    it('are not those under which nothing was issued, or all was used up or has expired', async () => {
      const { artifacts, idsAt } = await openArtifacts();
      await artifacts.commit([
        grant('none'),
        grant('used'),
        grant('expired'),
        grant('live'),
        artifact('used', { grantId: 'used' }),
        artifact('expired', { grantId: 'expired', expiresAt: startOfTime + 5 }),
        artifact('first', { grantId: 'live' }),
        artifact('second', { grantId: 'live' }),
      ]);
      for (const id of ['used', 'first'])
        await artifacts.commit([{ type: 'consume', kind: 'RefreshToken', id, at: startOfTime }]);
      expect(await idsAt(startOfTime + 5)).toEqual(['live']);
    });

    it.each([
      ['AuthorizationCode', keptAfterUseSeconds],
      ['AccessToken', accessTokenKeptSeconds],
    ])('are not those of an expired artifact that is kept for longer: %s', async (kind, keptSeconds) => {
      const { artifacts, idsAt } = await openArtifacts();
      const expiresAt = startOfTime + 60 + keptSeconds;
      await artifacts.commit([grant('g'), artifact('a', { kind, grantId: 'g', expiresAt })]);
      expect(await idsAt(startOfTime + 59)).toEqual(['g']);
      expect(await idsAt(startOfTime + 60)).toEqual([]);
    });
  });
}
