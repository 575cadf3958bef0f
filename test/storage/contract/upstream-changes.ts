import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/storage/artifacts.ts';
import { account, artifact, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';
import { boundGrant, commit, dueTokens, link, putBound, upstreamSession } from './upstream.ts';

/** What every storage does with changes to upstream links in a commit. */
export function describeUpstreamChanges(open: OpenStorage): void {
  async function openBound() {
    const storage = await openForTest(open);
    await putBound(storage);
    await storage.accounts.add(account('grace'));
    return storage;
  }

  describe('a login at an upstream', () => {
    it('replaces the tokens that were read with its own, the next generation, and keeps what is kept', async () => {
      const storage = await openBound();
      const { upstreams } = storage;
      const again = (ifGeneration: number, more = {}) =>
        link('link of ada', 'ada', {
          tokens: payload('of the new login'),
          profile: payload('new'),
          provedAt: startOfTime + 9,
          at: startOfTime + 9,
          ifGeneration,
          ...more,
        });
      await upstreams.noteUnreachable('link of ada', 1, startOfTime + 1);
      await commit(storage, again(1, { kept: true }));
      await commit(storage, again(2, { kept: false }));
      const row = await upstreams.find('link of ada');
      expect(row).toMatchObject({
        tokens: payload('of the new login'),
        profile: payload('new'),
        generation: 3,
        provedAt: startOfTime + 9,
        kept: true,
        linkedAt: startOfTime,
      });
      expect(row?.unreachableSince).toBeUndefined();
      expect(await upstreams.bondOf('grant of ada')).toMatchObject({ linkId: 'link of ada' });
    });

    it.each<[string, Change, object]>([
      ['of a link that is not new', link('x'), { reason: 'changed', kind: 'UpstreamLink' }],
      [
        'that read other tokens',
        link('link of ada', 'ada', { ifGeneration: 2 }),
        { reason: 'changed', kind: 'UpstreamLink' },
      ],
      [
        'as somebody who is another account',
        link('x', 'grace', { subject: 'ada there' }),
        { reason: 'present', kind: 'UpstreamLink' },
      ],
      [
        'as somebody else than before',
        link('link of ada', 'ada', { ifGeneration: 1, subject: 'somebody' }),
        { reason: 'present', kind: 'UpstreamLink' },
      ],
      ['into an account that is gone', link('x', 'gone'), { reason: 'orphan', kind: 'Account' }],
      ['of a link that is gone', upstreamSession('y', 'gone'), { reason: 'orphan', kind: 'UpstreamLink' }],
    ])('%s changes nothing at all (T-089, T-164)', async (_fault, change, conflict) => {
      const storage = await openBound();
      const before = await storage.upstreams.find('link of ada');
      const result = await storage.artifacts.commit([grant('new'), change]);
      expect(result).toMatchObject({ committed: false, conflict });
      expect(await storage.artifacts.findGrant('new')).toBeUndefined();
      expect(await storage.upstreams.find('link of ada')).toEqual(before);
    });
  });

  describe('a grant', () => {
    it('is hung on a login there, and on another one later (A10-02)', async () => {
      const storage = await openBound();
      await commit(storage, upstreamSession('later', 'link of ada'), ...boundGrant('grant of ada', 'later'));
      expect(await storage.upstreams.bondOf('grant of ada')).toEqual({
        sessionId: 'later',
        linkId: 'link of ada',
      });
      await storage.upstreams.endSessions({
        upstream: 'idp',
        issuer: 'https://idp.example',
        sid: 'sid of session of ada',
      });
      expect(await storage.artifacts.findGrant('grant of ada')).toBeDefined();
    });

    it('stays hung on it when it is written again', async () => {
      const storage = await openBound();
      await commit(storage, grant('grant of ada'));
      expect(await storage.upstreams.bondOf('grant of ada')).toMatchObject({ sessionId: 'session of ada' });
    });

    it('has its access tokens looked at again, when it is hung on something', async () => {
      const storage = await openBound();
      await commit(storage, artifact('refresh', { grantId: 'grant of ada' }));
      const mark = await storage.artifacts.removalMark('AccessToken');
      await commit(storage, { type: 'bindGrant', id: 'grant of ada', upstreamSessionId: 'session of ada' });
      expect(await storage.artifacts.findRevision('AccessToken', 'token of ada')).toBe(1);
      expect(await storage.artifacts.findRevision('RefreshToken', 'refresh')).toBe(0);
      expect(await storage.artifacts.removalMark('AccessToken')).not.toBe(mark);
    });

    it.each<[string, Change[]]>([
      ['that is gone', [{ type: 'bindGrant', id: 'gone', upstreamSessionId: 'session of ada' }]],
      ['on a login that has ended', boundGrant('new', 'gone')],
      ['on the login of another account', boundGrant('new', 'session of ada', 'grace')],
    ])('%s is not hung on it, and nothing changes (A10-02, T-164)', async (_fault, changes) => {
      const storage = await openBound();
      expect(await storage.artifacts.commit([artifact('t'), ...changes])).toEqual({
        committed: false,
        conflict: { reason: 'orphan', kind: 'UpstreamSession' },
      });
      expect(await storage.artifacts.findGrant('new')).toBeUndefined();
      expect(await storage.artifacts.find('RefreshToken', 't')).toBeUndefined();
    });

    it('and the end of the login there at the same time leave no grant', async () => {
      const storage = await openBound();
      const [, late] = await Promise.all([
        storage.upstreams.endLink('link of ada', { revoke: true }),
        storage.artifacts.commit(boundGrant('late', 'session of ada')),
      ]);
      expect(late.committed).toBe(false);
      expect(await storage.artifacts.findGrant('late')).toBeUndefined();
    });
  });

  describe('a login in a browser', () => {
    it('hangs on a login there, and is not written where that has ended', async () => {
      const storage = await openBound();
      const login = (upstreamSessionId: string) =>
        storage.artifacts.commit([artifact('s', { kind: 'Session', upstreamSessionId })]);
      expect(await login('gone')).toEqual({
        committed: false,
        conflict: { reason: 'orphan', kind: 'Session' },
      });
      expect(await login('session of ada')).toEqual({ committed: true });
      await storage.upstreams.endLink('link of ada', { revoke: false });
      expect(await storage.artifacts.find('Session', 's')).toBeUndefined();
    });

    it('that is written again without it hangs on it no more', async () => {
      const storage = await openBound();
      const put = artifact('login of ada', { kind: 'Session', accountId: 'ada' });
      await commit(storage, { ...put, ifPresent: true });
      await storage.upstreams.endLink('link of ada', { revoke: false });
      expect(await storage.artifacts.find('Session', 'login of ada')).toBeDefined();
    });
  });

  it('tokens of a login that no grant was hung on are revoked once its pages have had their time', async () => {
    const storage = await openForTest(open);
    await storage.accounts.add(account('ada'));
    await commit(storage, link('l'), upstreamSession('s', 'l'));
    await storage.upstreams.releaseUnheld(startOfTime + 599);
    expect(await dueTokens(storage)).toEqual([]);
    await storage.upstreams.releaseUnheld(startOfTime + 600);
    expect(await dueTokens(storage)).toEqual(['tokens of l']);
  });
}
