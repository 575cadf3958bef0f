import { describe, expect, it } from 'vitest';
import type { LinkIdentity } from '../../../src/storage/identities.ts';
import { account, artifact, grant, type OpenStorage, openForTest, startOfTime } from './subject.ts';

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
