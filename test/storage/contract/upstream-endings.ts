import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/storage/artifacts.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { account, artifact, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';
import { boundGrant, commit, dueTokens, issuer, link, putBound, upstreamSession } from './upstream.ts';

const day = 86_400;

/** What every store does when a login at an upstream ends, or nothing hangs on it any more. */
export function describeUpstreamEndings(open: OpenStorage): void {
  async function openBound() {
    const storage = await openForTest(open);
    for (const id of ['ada', 'grace']) await putBound(storage, id);
    return storage;
  }

  /** What is left of an account's bond. */
  async function left({ artifacts, upstreams }: Storage, id = 'ada') {
    const row = await upstreams.find(`link of ${id}`);
    const parts = {
      grant: await artifacts.findGrant(`grant of ${id}`),
      token: await artifacts.find('AccessToken', `token of ${id}`),
      login: await artifacts.find('Session', `login of ${id}`),
      session: await upstreams.linkOfSession(`session of ${id}`),
      link: row,
      tokens: row?.tokens,
    };
    return Object.entries(parts).flatMap(([name, part]) => (part ? [name] : []));
  }
  const all = ['grant', 'token', 'login', 'session', 'link', 'tokens'];

  describe('a link that ends', () => {
    it.each([
      [false, []],
      [true, ['tokens of link of ada']],
    ])('takes what hangs on it, and only that; tokens revoked: %s (A10-02)', async (revoke, due) => {
      const storage = await openBound();
      await commit(storage, grant('free'));
      const mark = await storage.artifacts.removalMark('AccessToken');
      expect(await storage.upstreams.endLink('link of ada', { revoke })).toEqual({ grants: 1, logins: 1 });
      expect(await left(storage)).toEqual([]);
      expect(await left(storage, 'grace')).toEqual(all);
      expect(await storage.artifacts.findGrant('free')).toBeDefined();
      expect(await storage.artifacts.removalMark('AccessToken')).not.toBe(mark);
      expect(await storage.identities.findAccount({ issuer, subject: 'ada there' })).toBe('ada');
      await storage.upstreams.releaseUnheld(startOfTime + day);
      expect(await dueTokens(storage)).toEqual(due);
      expect(await storage.upstreams.endLink('link of ada', { revoke })).toBeUndefined();
    });

    it('and is kept stays without its tokens, as the next generation', async () => {
      const storage = await openBound();
      await commit(storage, link('link of ada', 'ada', { kept: true, ifGeneration: 1 }));
      expect(await storage.upstreams.endLink('link of ada', { revoke: false })).toMatchObject({ grants: 1 });
      expect(await left(storage)).toEqual(['link']);
      expect(await storage.upstreams.find('link of ada')).toMatchObject({ kept: true, generation: 3 });
    });

    it('is left alone where its tokens are others than those that were asked about', async () => {
      const storage = await openBound();
      expect(
        await storage.upstreams.endLink('link of ada', { ifGeneration: 2, revoke: true }),
      ).toBeUndefined();
      expect(await left(storage)).toEqual(all);
      expect(await storage.upstreams.endLink('link of ada', { ifGeneration: 1, revoke: true })).toBeDefined();
      expect(await left(storage)).toEqual([]);
    });

    it('by the person is forgotten with who they are there, kept or not, and its tokens are revoked', async () => {
      const storage = await openBound();
      await commit(storage, link('link of ada', 'ada', { kept: true, ifGeneration: 1 }));
      expect(await storage.upstreams.unlink('link of ada')).toEqual({ grants: 1, logins: 1 });
      expect(await left(storage)).toEqual([]);
      expect(await storage.identities.findAccount({ issuer, subject: 'ada there' })).toBeUndefined();
      expect(await storage.identities.findAccount({ issuer, subject: 'grace there' })).toBe('grace');
      expect(await dueTokens(storage)).toEqual(['tokens of link of ada']);
      expect(await storage.upstreams.unlink('link of ada')).toBeUndefined();
    });

    it('leaves it known who they are there, while another link is of the same issuer', async () => {
      const storage = await openBound();
      await commit(storage, link('for tools', 'ada', { upstream: 'tools' }));
      await storage.upstreams.unlink('for tools');
      expect(await storage.identities.findAccount({ issuer, subject: 'ada there' })).toBe('ada');
      expect(await left(storage)).toEqual(all);
    });

    it.each([undefined, 'ada'])(
      'by the operator is one of all, or that of one account: %s',
      async (whose) => {
        const storage = await openBound();
        const many = 130;
        for (let n = 0; n < (whose ? 0 : many); n++) {
          await storage.accounts.add(account(`p${n}`));
          await commit(storage, link(`l${n}`, `p${n}`, { kept: n % 2 === 0 }));
        }
        await commit(storage, link('other', 'ada', { upstream: 'other' }));
        expect(await storage.upstreams.endAll('idp', whose)).toEqual(
          whose ? { links: 1, grants: 1, logins: 1 } : { links: many + 2, grants: 2, logins: 2 },
        );
        expect(await left(storage)).toEqual([]);
        expect(await left(storage, 'grace')).toEqual(whose ? all : []);
        expect(await storage.upstreams.find('other')).toMatchObject({ generation: 1 });
        expect(await storage.upstreams.list('idp', { limit: 999 })).toHaveLength(whose ? 1 : many / 2);
        expect(await storage.upstreams.dueRevocations(startOfTime, 999, 0)).toHaveLength(
          whose ? 1 : many + 2,
        );
        expect(await storage.upstreams.endAll('never')).toEqual({ links: 0, grants: 0, logins: 0 });
      },
    );
  });

  describe('a logout at the upstream', () => {
    async function openThree() {
      const storage = await openBound();
      await commit(
        storage,
        upstreamSession('second', 'link of ada'),
        ...boundGrant('second', 'second'),
        upstreamSession('nameless', 'link of ada', null),
        ...boundGrant('nameless', 'nameless'),
      );
      const grants = async () => {
        const there: string[] = [];
        for (const id of ['grant of ada', 'second', 'nameless', 'grant of grace'])
          if (await storage.artifacts.findGrant(id)) there.push(id);
        return there;
      };
      return { ...storage, grants };
    }
    const sid = 'sid of session of ada';
    const subject = 'ada there';

    it.each<[string, object, string[], string[]]>([
      ['of one login ends that', { sid }, ['second', 'nameless', 'grant of grace'], ['link of ada']],
      [
        'of one login of somebody ends that, and those whose name is not known',
        { sid, subject },
        ['second', 'grant of grace'],
        ['link of ada'],
      ],
      ['of somebody ends all of theirs', { subject }, ['grant of grace'], ['link of ada']],
      [
        'of a login of somebody else ends nothing',
        { sid, subject: 'nobody' },
        ['grant of ada', 'second', 'nameless', 'grant of grace'],
        [],
      ],
      ['that names nobody ends nothing', {}, ['grant of ada', 'second', 'nameless', 'grant of grace'], []],
      [
        'of another upstream ends nothing',
        { sid, subject, upstream: 'other' },
        ['grant of ada', 'second', 'nameless', 'grant of grace'],
        [],
      ],
      [
        'by another issuer ends nothing',
        { sid, subject, issuer: 'https://other.example' },
        ['grant of ada', 'second', 'nameless', 'grant of grace'],
        [],
      ],
    ])('%s (A10-02)', async (_case, which, grants, links) => {
      const storage = await openThree();
      const ended = await storage.upstreams.endSessions({ upstream: 'idp', issuer, ...which });
      expect(ended).toMatchObject({ links, grants: 4 - grants.length });
      expect(await storage.grants()).toEqual(grants);
      await storage.upstreams.releaseUnheld(startOfTime);
      expect(await dueTokens(storage)).toEqual(grants.length === 1 ? ['tokens of link of ada'] : []);
    });
  });

  describe('tokens that no grant holds', () => {
    const ways: [string, (storage: Storage) => Promise<unknown>, string[]][] = [
      ['is revoked', ({ artifacts }) => artifacts.revokeGrant('grant of ada'), ['login', 'session', 'link']],
      [
        'is removed in a commit',
        (storage) => commit(storage, { type: 'removeGrant', id: 'grant of ada' }),
        ['login', 'session', 'link'],
      ],
      ['expires', ({ sweepExpired }) => sweepExpired(startOfTime + 101), ['login', 'session', 'link']],
      ['goes with its client', ({ clients }) => clients.remove('client'), ['login', 'session', 'link']],
      [
        'goes with a changed password',
        ({ accounts }) => accounts.setPassword('ada', 'x'),
        ['session', 'link'],
      ],
      [
        'goes with a login there',
        ({ upstreams }) => upstreams.endSessions({ upstream: 'idp', issuer, subject: 'ada there' }),
        [],
      ],
      ['goes with its account', ({ accounts }) => accounts.remove('ada'), []],
    ];

    it.each(ways)('are revoked once, where the last one %s (A10-02)', async (_how, end, remains) => {
      const storage = await openForTest(open);
      await putBound(storage);
      await storage.clients.put({ id: 'client', payload: Buffer.from('c'), createdAt: startOfTime });
      await end(storage);
      await storage.upstreams.releaseUnheld(startOfTime);
      expect(await dueTokens(storage)).toEqual(['tokens of link of ada']);
      expect(await left(storage)).toEqual(remains);
      await storage.upstreams.releaseUnheld(startOfTime + day);
      expect(await dueTokens(storage)).toHaveLength(1);
    });

    it('are those of no grant at all: one that stays holds them, and so does a grant of another login there', async () => {
      const storage = await openBound();
      await commit(
        storage,
        ...boundGrant('second', 'session of ada'),
        upstreamSession('later', 'link of ada'),
        ...boundGrant('third', 'later'),
      );
      for (const id of ['grant of ada', 'second']) {
        await storage.artifacts.revokeGrant(id);
        expect(await storage.upstreams.releaseUnheld(startOfTime)).toBe(0);
      }
      await storage.artifacts.revokeGrant('third');
      expect(await storage.upstreams.releaseUnheld(startOfTime)).toBe(1);
      expect(await dueTokens(storage)).toEqual(['tokens of link of ada']);
    });

    it('are kept where the person linked them for tools', async () => {
      const storage = await openBound();
      await commit(storage, link('link of ada', 'ada', { kept: true, ifGeneration: 1 }));
      await storage.artifacts.revokeGrant('grant of ada');
      await storage.upstreams.releaseUnheld(startOfTime + day);
      expect(await left(storage)).toEqual(['login', 'session', 'link', 'tokens']);
      expect(await dueTokens(storage)).toEqual([]);
    });

    it('are held again by a grant that comes before they are looked at', async () => {
      const storage = await openBound();
      await storage.artifacts.revokeGrant('grant of ada');
      await commit(storage, ...boundGrant('again', 'session of ada'));
      expect(await storage.upstreams.releaseUnheld(startOfTime)).toBe(0);
      expect(await left(storage)).toContain('tokens');
    });

    it('go, where a grant is hung on another link', async () => {
      const storage = await openBound();
      await commit(storage, link('other', 'ada', { upstream: 'other' }), upstreamSession('other', 'other'), {
        type: 'bindGrant',
        id: 'grant of ada',
        upstreamSessionId: 'other',
      });
      expect(await storage.upstreams.releaseUnheld(startOfTime)).toBe(1);
      expect(await dueTokens(storage)).toEqual(['tokens of link of ada']);
      expect(await storage.artifacts.findGrant('grant of ada')).toBeDefined();
    });
  });

  it('a login there that a login in a browser hangs on is not swept, however old it is', async () => {
    const storage = await openBound();
    const login = artifact('login of ada', {
      kind: 'Session',
      accountId: 'ada',
      expiresAt: startOfTime + 3 * day,
    });
    await commit(storage, { ...login, upstreamSessionId: 'session of ada' });
    await storage.sweepExpired(startOfTime + 2 * day);
    expect(await left(storage)).toEqual(['login', 'session', 'link', 'tokens']);
    await storage.upstreams.releaseUnheld(startOfTime + 2 * day);
    expect(await left(storage)).toEqual(['login', 'session', 'link']);
  });

  it('a login there that nothing hangs on is swept after a day, and its link goes with the last', async () => {
    const storage = await openBound();
    await storage.sweepExpired(startOfTime + 101);
    await storage.upstreams.releaseUnheld(startOfTime + 101);
    expect(await left(storage)).toEqual(['login', 'session', 'link']);
    await storage.sweepExpired(startOfTime + 501);
    expect(await left(storage)).toEqual(['session', 'link']);
    await storage.sweepExpired(startOfTime + day + 1);
    await storage.upstreams.releaseUnheld(startOfTime + day + 1);
    expect(await left(storage)).toEqual([]);
    expect(await storage.identities.findAccount({ issuer, subject: 'ada there' })).toBe('ada');
  });
}

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
