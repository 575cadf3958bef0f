import { describe, expect, it } from 'vitest';
import { LastLoginMethod, type LinkIdentity, passwordResetKind } from '../../../src/storage/accounts.ts';
import { account, artifact, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';
import { commit, dueTokens, putBound, link as upstreamLink } from './upstream.ts';

const requirePassword = { type: 'requirePassword', accountId: 'ada', passwordHash: 'hash of ada' } as const;

/** What every store of accounts does. */
export function describeAccounts(open: OpenStorage): void {
  describe('accounts', () => {
    it('are kept and found by id and by e-mail address in any case', async () => {
      const { accounts } = await openForTest(open);
      expect(await accounts.add({ ...account('ada'), email: ' Ada@Example.COM' })).toBe(true);
      const kept = account('ada');
      expect(await accounts.find('ada')).toEqual(kept);
      expect(await accounts.findByEmail('ADA@example.com ')).toEqual(kept);
      expect(await accounts.find('grace')).toBeUndefined();
      expect(await accounts.findByEmail('grace@example.com')).toBeUndefined();
    });

    it('have an e-mail address to themselves, also when it is asked for at once', async () => {
      const { accounts } = await openForTest(open);
      const results = await Promise.all(
        ['a', 'b', 'c', 'd'].map((id) => accounts.add({ ...account(id), email: 'same@example.com' })),
      );
      expect(results).toEqual([true, false, false, false]);
      expect((await accounts.list()).map(({ id }) => id)).toEqual(['a']);
    });

    it('are listed by e-mail address', async () => {
      const { accounts } = await openForTest(open);
      for (const id of ['grace', 'ada', 'edsger']) await accounts.add(account(id));
      expect((await accounts.list()).map(({ id }) => id)).toEqual(['ada', 'edsger', 'grace']);
    });

    it('take everything of their own along when they are removed, and nothing of others (T-103)', async () => {
      const { accounts, artifacts, notes } = await openForTest(open);
      for (const id of ['ada', 'grace']) {
        await accounts.add(account(id));
        await artifacts.commit([
          grant(`${id}-grant`, id),
          artifact(`${id}-token`, { grantId: `${id}-grant` }),
          artifact(`${id}-session`, { kind: 'Session', accountId: id }),
        ]);
        await notes.add(id, 'a note', startOfTime);
      }
      expect(await accounts.remove('ada')).toBe(true);
      expect(await accounts.remove('ada')).toBe(false);
      const left = async (id: string) => [
        await accounts.find(id),
        await artifacts.findGrant(`${id}-grant`),
        await artifacts.find('RefreshToken', `${id}-token`),
        await artifacts.find('Session', `${id}-session`),
        (await notes.list(id, 10))[0],
      ];
      expect(await left('ada')).toEqual([undefined, undefined, undefined, undefined, undefined]);
      expect((await left('grace')).every((row) => row !== undefined)).toBe(true);
    });

    it('keep notes and lose sessions, interactions and grants when their password changes (T-103)', async () => {
      const { accounts, artifacts, notes } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([
        grant('g'),
        artifact('token', { grantId: 'g' }),
        artifact('session', { kind: 'Session', accountId: 'ada' }),
        artifact('interaction', { kind: 'Interaction' }),
      ]);
      await artifacts.commit([
        artifact('interaction', { kind: 'Interaction', accountId: 'ada', ifRevision: 0 }),
      ]);
      await notes.add('ada', 'a note', startOfTime);
      expect(await accounts.setPassword('ada', 'another hash')).toBe(true);
      expect(await accounts.setPassword('grace', 'another hash')).toBe(false);
      expect(await accounts.find('ada')).toEqual({ ...account('ada'), passwordHash: 'another hash' });
      expect(await artifacts.findGrant('g')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'token')).toBeUndefined();
      expect(await artifacts.find('Session', 'session')).toBeUndefined();
      expect(await artifacts.find('Interaction', 'interaction')).toBeUndefined();
      expect(await notes.list('ada', 10)).toHaveLength(1);
    });

    it('get a new hash of the same password only while the one it replaces stands, and stay logged in (T-120)', async () => {
      const { accounts, artifacts } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([artifact('session', { kind: 'Session', accountId: 'ada' })]);
      expect(await accounts.rehash('ada', 'not the hash', 'better')).toBe(false);
      expect(await accounts.rehash('ada', 'hash of ada', 'better')).toBe(true);
      expect((await accounts.find('ada'))?.passwordHash).toBe('better');
      expect(await artifacts.find('Session', 'session')).toBeDefined();
    });

    it('change their password on condition that it is the one they think it is', async () => {
      const { accounts } = await openForTest(open);
      await accounts.add(account('ada'));
      expect(await accounts.setPassword('ada', 'new', 'not the hash')).toBe(false);
      const changes = await Promise.all(
        ['b', 'c', 'd'].map((hash) => accounts.setPassword('ada', hash, 'hash of ada')),
      );
      expect(changes).toEqual([true, false, false]);
      expect((await accounts.find('ada'))?.passwordHash).toBe('b');
    });

    it('take a password by a reset once, in its time, and everything ends with it (T-123)', async () => {
      const { accounts, artifacts } = await openForTest(open);
      for (const id of ['ada', 'grace']) await accounts.add(account(id));
      const reset = (id: string, accountId: string) =>
        artifact(id, { kind: passwordResetKind, accountId, expiresAt: startOfTime + 60 });
      await artifacts.commit([
        reset('late', 'ada'),
        reset('twin', 'ada'),
        reset('other', 'grace'),
        grant('g'),
        artifact('token', { grantId: 'g' }),
        artifact('session', { kind: 'Session', accountId: 'ada' }),
      ]);
      expect(await accounts.resetPassword('late', 'x', startOfTime + 60)).toBeUndefined();
      expect(await accounts.resetPassword('token', 'x', startOfTime)).toBeUndefined();
      const winners = await Promise.all(
        Array.from({ length: 20 }, (_, at) => accounts.resetPassword('twin', `hash ${at}`, startOfTime)),
      );
      expect(winners.filter((id) => id !== undefined)).toEqual(['ada']);
      expect((await accounts.find('ada'))?.passwordHash).toBe(`hash ${winners.indexOf('ada')}`);
      expect((await accounts.find('grace'))?.passwordHash).toBe('hash of grace');
      expect(await artifacts.find('Session', 'session')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'token')).toBeUndefined();
      expect(await artifacts.find(passwordResetKind, 'other')).toBeDefined();
    });

    it('that are disabled say since when, and lose sessions, grants and resets; enabled again they have none back (T-027)', async () => {
      const { accounts, artifacts } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([
        grant('g'),
        artifact('token', { grantId: 'g' }),
        artifact('session', { kind: 'Session', accountId: 'ada' }),
        artifact('reset', { kind: passwordResetKind, accountId: 'ada' }),
      ]);
      expect(await accounts.setDisabled('ada', startOfTime + 5)).toBe(true);
      expect(await accounts.setDisabled('grace', startOfTime)).toBe(false);
      expect(await accounts.find('ada')).toEqual({ ...account('ada'), disabledAt: startOfTime + 5 });
      expect(await artifacts.commit([requirePassword])).toMatchObject({ committed: false });
      expect(await accounts.setDisabled('ada', undefined)).toBe(true);
      expect(await accounts.find('ada')).toEqual(account('ada'));
      expect(await artifacts.commit([requirePassword])).toEqual({ committed: true });
      expect(await artifacts.findGrant('g')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'token')).toBeUndefined();
      expect(await artifacts.find('Session', 'session')).toBeUndefined();
      expect(await artifacts.find(passwordResetKind, 'reset')).toBeUndefined();
    });

    it('list what is theirs alone: sessions, and grants with their last use', async () => {
      const { accounts, artifacts } = await openForTest(open);
      for (const id of ['ada', 'grace']) {
        await accounts.add(account(id));
        await artifacts.commit([
          grant(`${id}-grant`, id, 'an app'),
          artifact(`${id}-token`, { grantId: `${id}-grant` }),
          artifact(`${id}-session`, { kind: 'Session', accountId: id }),
        ]);
      }
      const listed = {
        id: 'ada-grant',
        clientId: 'an app',
        payload: payload('grant ada-grant'),
        expiresAt: startOfTime + 100,
      };
      expect(await artifacts.listGrants('ada')).toEqual([listed]);
      await artifacts.commit([
        { type: 'consume', kind: 'RefreshToken', id: 'ada-token', at: startOfTime + 7 },
      ]);
      expect(await artifacts.listGrants('ada')).toEqual([{ ...listed, usedAt: startOfTime + 7 }]);
      expect((await artifacts.listOf('Session', 'ada')).map(({ id }) => id)).toEqual(['ada-session']);
      expect(await artifacts.listGrants('nobody')).toEqual([]);
    });

    it('know the last use of a grant to a minute, also where the clock was set back (T-176)', async () => {
      const { accounts, artifacts } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([grant('g', 'ada', 'an app')]);
      const useAt = async (seconds: number): Promise<number | undefined> => {
        const id = `token ${seconds}`;
        const at = startOfTime + seconds;
        await artifacts.commit([
          artifact(id, { grantId: 'g' }),
          { type: 'consume', kind: 'RefreshToken', id, at },
        ]);
        const [row] = await artifacts.listGrants('ada');
        return row?.usedAt === undefined ? undefined : row.usedAt - startOfTime;
      };
      const seen: (number | undefined)[] = [];
      for (const seconds of [7, 67, 68, 9]) seen.push(await useAt(seconds));
      expect(seen).toEqual([7, 7, 68, 9]);
    });
  });
}

const issuer = 'https://idp.example';

function link(subject: string, accountId: string, at = issuer): LinkIdentity {
  return { type: 'linkIdentity', issuer: at, subject, accountId, at: startOfTime };
}

/** What every store of identities does. */
export function describeIdentities(open: OpenStorage): void {
  describe('identities', () => {
    it('lead to one account each, and an account to one subject of an issuer (T-104)', async () => {
      const { accounts, artifacts, identities } = await openForTest(open);
      for (const id of ['ada', 'grace']) await accounts.add(account(id));
      expect(await artifacts.commit([link('1', 'ada')])).toEqual({ committed: true });
      expect(await artifacts.commit([link('1', 'ada')])).toEqual({ committed: true });
      expect(await artifacts.commit([link('1', 'ada', 'https://other.example')])).toEqual({
        committed: true,
      });
      const refused = { committed: false, conflict: { reason: 'present', kind: 'Identity' } };
      expect(await artifacts.commit([link('1', 'grace')])).toMatchObject(refused);
      expect(await artifacts.commit([link('2', 'ada')])).toMatchObject(refused);
      expect(await identities.findAccount({ issuer, subject: '1' })).toBe('ada');
      expect(await identities.findAccount({ issuer, subject: '2' })).toBeUndefined();
      expect(await identities.findSubject(issuer, 'ada')).toBe('1');
      expect(await identities.findSubject(issuer, 'grace')).toBeUndefined();
    });

    it('of an account are listed with their times, and one can be forgotten alone', async () => {
      const { accounts, artifacts, identities } = await openForTest(open);
      for (const id of ['ada', 'grace']) await accounts.add(account(id));
      const other = 'https://other.example';
      await artifacts.commit([link('2', 'ada', other), link('1', 'ada'), link('3', 'grace')]);
      const [atIssuer, atOther] = [
        { issuer, subject: '1', linkedAt: startOfTime },
        { issuer: other, subject: '2', linkedAt: startOfTime },
      ];
      expect(await identities.listOf('ada')).toEqual([atIssuer, atOther]);
      expect(await identities.forget(issuer, 'ada')).toBe(true);
      expect(await identities.forget(issuer, 'ada')).toBe(false);
      expect(await identities.listOf('ada')).toEqual([atOther]);
      expect(await identities.findAccount({ issuer, subject: '3' })).toBe('grace');
    });

    it('go with their account, and do not come for one that is gone', async () => {
      const { accounts, artifacts, identities } = await openForTest(open);
      await accounts.add(account('ada'));
      await artifacts.commit([link('1', 'ada')]);
      await accounts.remove('ada');
      expect(await identities.findAccount({ issuer, subject: '1' })).toBeUndefined();
      expect(await artifacts.commit([link('1', 'ada')])).toMatchObject({
        committed: false,
        conflict: { reason: 'orphan' },
      });
    });

    it('come with an account, and what it is given, in one commit or not at all (T-165)', async () => {
      const { accounts, artifacts, identities } = await openForTest(open);
      const changes = (id: string, email: string) => [
        { type: 'addAccount', account: { ...account(id), email } } as const,
        link(id, id),
        grant(`${id}-grant`, id),
        artifact(`${id}-token`, { grantId: `${id}-grant` }),
      ];
      const results = await Promise.all(
        ['ada', 'grace'].map((id) => artifacts.commit(changes(id, 'same@example.com'))),
      );
      expect(results).toEqual([
        { committed: true },
        { committed: false, conflict: { reason: 'present', kind: 'Account', id: 'grace' } },
      ]);
      expect((await accounts.list()).map(({ id }) => id)).toEqual(['ada']);
      expect(await identities.findAccount({ issuer, subject: 'grace' })).toBeUndefined();
      expect(await artifacts.findGrant('grace-grant')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'ada-token')).toBeDefined();
    });
  });
}

/** What every store does where an account could lose its last way in. */
export function describeLastLoginMethod(open: OpenStorage): void {
  async function openBound() {
    const storage = await openForTest(open);
    for (const id of ['ada', 'grace']) await putBound(storage, id);
    return storage;
  }

  describe('unlinking', () => {
    it('at two at once leaves an account without a password one of its ways in', async () => {
      const storage = await openBound();
      const other = 'https://other.example';
      await commit(
        storage,
        { type: 'linkIdentity', issuer: other, subject: 'ada', accountId: 'ada', at: startOfTime },
        upstreamLink('second', 'ada', { upstream: 'other', issuer: other, subject: 'ada' }),
      );
      const { upstreams, identities } = storage;
      const waysIn = [issuer, other];
      const outcomes = await Promise.allSettled([
        upstreams.unlink('link of ada', waysIn),
        upstreams.unlink('second', waysIn),
      ]);
      expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { reason: { name: 'LastLoginMethod' } }]);
      expect((await upstreams.listOfAccount('ada')).map(({ id }) => id)).toEqual(['second']);
      expect(await dueTokens(storage)).toEqual(['tokens of link of ada']);
      await expect(identities.forget(other, 'ada', waysIn)).rejects.toThrow(LastLoginMethod);
      expect(await identities.findAccount({ issuer: other, subject: 'ada' })).toBe('ada');
    });

    it('of what was no way in is not refused; nor of one beside a passkey', async () => {
      const storage = await openBound();
      expect(await storage.upstreams.unlink('link of grace', ['https://other.example'])).toBeDefined();
      const passkey = { id: 'key', accountId: 'ada', name: 'key', publicKey: Buffer.from('key') };
      await storage.passkeys.add(
        { ...passkey, counter: 0, isSynced: false, transports: [], createdAt: 1 },
        5,
      );
      expect(await storage.upstreams.unlink('link of ada', [issuer])).toBeDefined();
      await expect(storage.passkeys.remove('ada', 'key', [issuer])).rejects.toThrow(LastLoginMethod);
      expect(await storage.passkeys.listOf('ada')).toHaveLength(1);
      expect(await storage.passkeys.remove('ada', 'key')).toBe(true);
    });
  });
}
