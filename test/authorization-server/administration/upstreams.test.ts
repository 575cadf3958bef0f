import { describe, expect, it, onTestFinished } from 'vitest';
import { createAdministration } from '../../../src/authorization-server/administration/administration.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { startOfTime } from '../../storage/contract/subject.ts';
import { dueTokens, issuer, link, putBound } from '../../storage/contract/upstream.ts';

/** An installation in which two people came through an upstream. */
async function openLinked() {
  const folder = await openDataFolder(testFolder());
  onTestFinished(() => folder.storage.close());
  for (const person of ['ada', 'grace']) await putBound(folder.storage, person);
  const administration = createAdministration(folder, () => startOfTime + 1, 'root (0)');
  const [ada, grace] = await administration.accounts.list();
  return { ...folder, administration, ada: ada?.email ?? '', grace: grace?.email ?? '' };
}

describe('what an operator sees of upstreams', () => {
  it('is who is linked, since when, and whether tokens are kept; never a token', async () => {
    const { administration, ada } = await openLinked();
    const [first, ...others] = await administration.upstreams.list();
    expect(first).toEqual({
      upstream: 'idp',
      accountId: 'ada',
      email: ada,
      issuer,
      subject: 'ada there',
      linkedAt: startOfTime,
      checkedAt: startOfTime,
      hasTokens: true,
      isForTools: false,
    });
    expect(others).toHaveLength(1);
    expect(await administration.upstreams.list({ email: ada })).toEqual([first]);
    expect(JSON.stringify(first)).not.toContain('tokens of');
  });

  it('names since when an upstream does not answer', async () => {
    const { administration, storage } = await openLinked();
    await storage.upstreams.noteUnreachable('link of ada', 1, startOfTime + 7);
    expect((await administration.upstreams.list())[0]?.unreachableSince).toBe(startOfTime + 7);
  });

  it('stands with accounts as well, with who they are elsewhere', async () => {
    const { administration, ada } = await openLinked();
    expect((await administration.accounts.list()).map(({ upstreams }) => upstreams)).toEqual([
      ['idp'],
      ['idp'],
    ]);
    expect(await administration.accounts.show(ada)).toMatchObject({
      upstreams: ['idp'],
      identities: [{ issuer, subject: 'ada there', linkedAt: startOfTime }],
    });
  });
});

describe('an operator who ends an upstream', () => {
  it('ends grants, tokens and browser logins of everybody, has tokens given back, and is noted (T-192)', async () => {
    const { administration, storage } = await openLinked();
    expect(await administration.upstreams.end('idp')).toEqual({ links: 2, grants: 2, logins: 2 });
    for (const person of ['ada', 'grace']) {
      expect(await storage.artifacts.findGrant(`grant of ${person}`)).toBeUndefined();
      expect(await storage.artifacts.find('AccessToken', `token of ${person}`)).toBeUndefined();
      expect(await storage.artifacts.find('Session', `login of ${person}`)).toBeUndefined();
    }
    expect((await dueTokens(storage)).sort()).toEqual(['tokens of link of ada', 'tokens of link of grace']);
    expect(await administration.upstreams.list()).toEqual([]);
    expect(await administration.audit.list({ event: 'upstream.', limit: 10 })).toMatchObject([
      {
        event: 'upstream.ended',
        details: { operator: 'root (0)', target: 'idp', links: '2', grants: '2', logins: '2' },
      },
    ]);
  });

  it('ends those of one account alone, and who that is there stays known', async () => {
    const { administration, storage, grace } = await openLinked();
    expect(await administration.upstreams.end('idp', grace)).toEqual({ links: 1, grants: 1, logins: 1 });
    expect(await storage.artifacts.findGrant('grant of ada')).toBeDefined();
    expect(await storage.artifacts.findGrant('grant of grace')).toBeUndefined();
    expect(await storage.identities.findAccount({ issuer, subject: 'grace there' })).toBe('grace');
    await expect(administration.upstreams.end('idp', 'nobody@example.com')).rejects.toThrow(
      /There is no account/,
    );
  });

  it('leaves other upstreams alone', async () => {
    const { administration, storage } = await openLinked();
    await storage.artifacts.commit([link('other', 'ada', { upstream: 'other', kept: true })]);
    expect(await administration.upstreams.end('nothing')).toEqual({ links: 0, grants: 0, logins: 0 });
    await administration.upstreams.end('idp');
    expect((await administration.upstreams.list()).map(({ upstream }) => upstream)).toEqual(['other']);
  });
});
