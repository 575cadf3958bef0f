import { describe, expect, it } from 'vitest';
import { account, artifact, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';
import { commit, dueTokens, issuer, link, putBound } from './upstream.ts';

/** What every store of upstream links does with reads and with tokens. */
export function describeUpstreams(open: OpenStorage): void {
  async function openBound() {
    const storage = await openForTest(open);
    await putBound(storage);
    return storage;
  }
  const linkId = 'link of ada';
  const fresh = {
    upstream: 'idp',
    accountId: 'ada',
    tokens: payload('fresh tokens'),
    provedAt: startOfTime + 5,
  };

  describe('upstream links', () => {
    it('are found by id, by account, by upstream and by a login there', async () => {
      const storage = await openBound();
      const { upstreams } = storage;
      await commit(storage, link('another', 'ada', { upstream: 'another', kept: true }));
      await storage.accounts.add(account('grace'));
      await commit(storage, link('a link of grace', 'grace'));
      const row = {
        id: linkId,
        accountId: 'ada',
        upstream: 'idp',
        issuer,
        subject: 'ada there',
        profile: payload('profile of link of ada'),
        tokens: payload('tokens of link of ada'),
        generation: 1,
        expiresAt: startOfTime + 60,
        provedAt: startOfTime,
        kept: false,
        wantedScopes: '',
        linkedAt: startOfTime,
      };
      expect(await upstreams.find(linkId)).toEqual(row);
      expect(await upstreams.findOfAccount('ada', 'idp')).toEqual(row);
      expect(await upstreams.linkOfSession('session of ada')).toEqual(row);
      const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
      expect(ids(await upstreams.listOfAccount('ada'))).toEqual(['another', linkId]);
      expect(ids(await upstreams.list('idp', { limit: 1 }))).toEqual(['a link of grace']);
      expect(ids(await upstreams.list('idp', { after: 'a link of grace', limit: 9 }))).toEqual([linkId]);
      expect(await upstreams.find('another')).toMatchObject({ kept: true });
      for (const none of [
        upstreams.find('never'),
        upstreams.findOfAccount('grace', 'another'),
        upstreams.linkOfSession('never'),
      ])
        expect(await none).toBeUndefined();
    });

    it('tell what a grant hangs on, where it hangs on anything (A10-02)', async () => {
      const storage = await openBound();
      await commit(storage, grant('free'));
      expect(await storage.upstreams.bondOf('grant of ada')).toEqual({ sessionId: 'session of ada', linkId });
      expect(await storage.upstreams.bondOf('free')).toBeUndefined();
      expect(await storage.upstreams.bondOf('never')).toBeUndefined();
    });

    it('tell what the grant of a token hangs on, where it hangs on anything (A10-02, T-090)', async () => {
      const storage = await openBound();
      const { upstreams, artifacts } = storage;
      await commit(
        storage,
        grant('free'),
        artifact('bound', { grantId: 'grant of ada' }),
        artifact('unbound', { grantId: 'free' }),
      );
      const bond = { sessionId: 'session of ada', linkId };
      expect(await upstreams.bondOfArtifact('RefreshToken', 'bound')).toEqual(bond);
      for (const [kind, id] of [
        ['RefreshToken', 'unbound'],
        ['RefreshToken', 'never'],
        ['AccessToken', 'bound'],
      ] as const)
        expect(await upstreams.bondOfArtifact(kind, id)).toBeUndefined();
      await artifacts.revokeGrant('grant of ada');
      expect(await upstreams.bondOfArtifact('RefreshToken', 'bound')).toBeUndefined();
    });
  });

  describe('access tokens', () => {
    it('are found with the login at an upstream that their grant depends on (A10-02, T-103)', async () => {
      const storage = await openBound();
      const { artifacts } = storage;
      await commit(
        storage,
        grant('free'),
        artifact('unbound', { kind: 'AccessToken', grantId: 'free' }),
        artifact('of a client', { kind: 'AccessToken', clientId: 'client' }),
      );
      expect(await artifacts.findAccessToken('token of ada')).toEqual({
        ...(await artifacts.find('AccessToken', 'token of ada')),
        bond: { sessionId: 'session of ada', linkId },
      });
      for (const id of ['unbound', 'of a client']) {
        const found = await artifacts.findAccessToken(id);
        expect(found).toMatchObject({ id, revision: 0 });
        expect(found).toEqual(await artifacts.find('AccessToken', id));
      }
      await artifacts.revokeGrant('grant of ada');
      for (const id of ['token of ada', 'login of ada', 'never'])
        expect(await artifacts.findAccessToken(id)).toBeUndefined();
    });
  });

  describe('the tokens of a link', () => {
    it('are refreshed by one at a time, until that is done, or its time is over (A10-02)', async () => {
      const { upstreams } = await openBound();
      const claim = (at: number, generation = 1) => upstreams.claimRefresh(linkId, generation, at, 30);
      expect(
        await Promise.all([claim(startOfTime), claim(startOfTime), claim(startOfTime)]).then((claims) =>
          claims.filter(Boolean),
        ),
      ).toHaveLength(1);
      expect(await claim(startOfTime + 29)).toBe(false);
      expect(await claim(startOfTime + 30)).toBe(true);
      expect(await claim(startOfTime + 99, 2)).toBe(false);
      await upstreams.noteUnreachable(linkId, 1, startOfTime + 31);
      expect(await claim(startOfTime + 32)).toBe(true);
      await upstreams.noteProved(linkId, 1, startOfTime + 33);
      expect(await claim(startOfTime + 34)).toBe(true);
      await upstreams.putTokens(linkId, 1, fresh);
      expect(await claim(startOfTime + 35)).toBe(false);
      expect(await claim(startOfTime + 35, 2)).toBe(true);
    });

    it('can be refreshed again after the clock was set back (T-176)', async () => {
      const { upstreams } = await openBound();
      expect(await upstreams.claimRefresh(linkId, 1, startOfTime + 9_000, 30)).toBe(true);
      expect(await upstreams.claimRefresh(linkId, 1, startOfTime, 30)).toBe(true);
      expect(await upstreams.claimRefresh(linkId, 1, startOfTime + 1, 30)).toBe(false);
    });

    it('are replaced where they are still those that were read, and only there', async () => {
      const storage = await openBound();
      const { upstreams } = storage;
      await upstreams.noteUnreachable(linkId, 1, startOfTime + 1);
      expect(await upstreams.putTokens(linkId, 1, { ...fresh, expiresAt: startOfTime + 99 })).toBe(true);
      const row = await upstreams.find(linkId);
      expect(row).toMatchObject({
        tokens: fresh.tokens,
        generation: 2,
        expiresAt: startOfTime + 99,
        provedAt: startOfTime + 5,
        profile: payload('profile of link of ada'),
      });
      expect(row?.unreachableSince).toBeUndefined();
      expect(await upstreams.putTokens(linkId, 1, { ...fresh, tokens: payload('late') })).toBe(false);
      expect(await upstreams.find(linkId)).toEqual(row);
      expect(await upstreams.putTokens(linkId, 2, { ...fresh, profile: payload('newer') })).toBe(true);
      const newer = await upstreams.find(linkId);
      expect(newer).toMatchObject({ generation: 3, profile: payload('newer') });
      expect(newer?.expiresAt).toBeUndefined();
      expect(await dueTokens(storage)).toEqual([]);
    });

    it.each([
      ['the link was ended', 'endLink'],
      ['the account was removed', 'remove'],
      ['the last grant went', 'release'],
    ])('that arrive after %s are not kept, but revoked (A10-02)', async (_case, how) => {
      const storage = await openBound();
      const { upstreams } = storage;
      if (how === 'endLink') await upstreams.endLink(linkId, { revoke: false });
      else if (how === 'remove') await storage.accounts.remove('ada');
      else await storage.artifacts.revokeGrant('grant of ada');
      await upstreams.releaseUnheld(startOfTime);
      for (const { id } of await upstreams.dueRevocations(startOfTime, 9, 0))
        await upstreams.revocationDone(id);
      expect(await upstreams.putTokens(linkId, 1, fresh)).toBe(false);
      expect((await upstreams.find(linkId))?.tokens).toBeUndefined();
      expect(await dueTokens(storage)).toEqual(['fresh tokens']);
    });

    it('are known to be good, or not reached since the first time that was so', async () => {
      const { upstreams } = await openBound();
      await upstreams.noteUnreachable(linkId, 1, startOfTime + 10);
      await upstreams.noteUnreachable(linkId, 1, startOfTime + 20);
      await upstreams.noteUnreachable(linkId, 7, startOfTime + 5);
      await upstreams.noteProved(linkId, 7, startOfTime + 30);
      expect(await upstreams.find(linkId)).toMatchObject({
        provedAt: startOfTime,
        unreachableSince: startOfTime + 10,
      });
      await upstreams.noteProved(linkId, 1, startOfTime + 30);
      const row = await upstreams.find(linkId);
      expect(row).toMatchObject({ provedAt: startOfTime + 30, generation: 1 });
      expect(row?.unreachableSince).toBeUndefined();
    });

    it('are wanted with scopes that tools ask for, each once', async () => {
      const { upstreams } = await openBound();
      await upstreams.wantScopes(linkId, ['calendar', 'mail']);
      await upstreams.wantScopes(linkId, ['mail', 'files']);
      await upstreams.wantScopes('never', ['mail']);
      expect((await upstreams.find(linkId))?.wantedScopes).toBe('calendar mail files');
    });
  });
}

const day = 86_400;

/** What every store does with tokens that are to be revoked at an upstream. */
export function describeUpstreamRevocations(open: OpenStorage): void {
  async function openDue() {
    const storage = await openForTest(open);
    for (const id of ['ada', 'grace']) {
      await putBound(storage, id);
      await storage.upstreams.endLink(`link of ${id}`, { revoke: true });
    }
    const { upstreams } = storage;
    const due = (at: number, lease = 0) => upstreams.dueRevocations(at, 9, lease);
    return { upstreams, due };
  }

  describe('tokens to be revoked', () => {
    it('are given oldest first, with their link, to one process at a time', async () => {
      const { upstreams, due } = await openDue();
      const rows = await due(startOfTime, 20);
      expect(rows).toEqual([
        {
          id: expect.any(Number),
          upstream: 'idp',
          linkId: 'link of ada',
          accountId: 'ada',
          tokens: Buffer.from('tokens of link of ada'),
          attempts: 0,
        },
        expect.objectContaining({ linkId: 'link of grace' }),
      ]);
      expect(await due(startOfTime + 19)).toEqual([]);
      expect(await upstreams.dueRevocations(startOfTime + 20, 1, 0)).toHaveLength(1);
    });

    it('are forgotten when that is done, and come again at their time when it failed', async () => {
      const { upstreams, due } = await openDue();
      const [first, second] = await due(startOfTime);
      await upstreams.revocationDone(first?.id ?? 0);
      expect(await upstreams.revocationFailed(second?.id ?? 0, startOfTime + 60)).toBe(false);
      expect(await due(startOfTime + 59)).toEqual([]);
      expect(await due(startOfTime + 60)).toEqual([{ ...second, attempts: 1 }]);
    });

    it('are given up and forgotten a day after they were tried first, not after they were left to be revoked', async () => {
      const { upstreams, due } = await openDue();
      const late = startOfTime + 9 * day;
      const [first, second] = await due(late);
      await due(late + 60);
      expect(await upstreams.revocationFailed(first?.id ?? 0, late + day)).toBe(false);
      expect(await upstreams.revocationFailed(second?.id ?? 0, late + day + 1)).toBe(true);
      expect(await due(late + 2 * day)).toMatchObject([{ id: first?.id }]);
      expect(await upstreams.revocationFailed(second?.id ?? 0, late)).toBe(false);
    });
  });
}
