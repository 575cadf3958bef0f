import { describe, expect, it, onTestFinished } from 'vitest';
import { createAdministration } from '../../../src/authorization-server/administration/administration.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { account, payload, startOfTime } from '../../storage/contract/subject.ts';

async function open() {
  const folder = await openDataFolder(testFolder());
  onTestFinished(() => folder.storage.close());
  const { accounts, backendCredentials } = folder.storage;
  for (const accountId of ['ada', 'grace']) {
    await accounts.add(account(accountId));
    for (const name of ['key', 'other'])
      await backendCredentials.put({ accountId, route: 'notion', name }, payload('planted'), startOfTime);
  }
  return createAdministration(folder, () => startOfTime + 1, 'root (0)');
}

describe('what an operator sees of keys that people entered', () => {
  it('is who has entered what, and when; never a value', async () => {
    const { credentials } = await open();
    const listed = await credentials.list('ada@example.com');
    expect(listed).toEqual(
      ['key', 'other'].map((name) => ({
        accountId: 'ada',
        email: 'ada@example.com',
        route: 'notion',
        name,
        enteredAt: startOfTime,
      })),
    );
    expect(await credentials.list()).toHaveLength(4);
    expect(JSON.stringify(await credentials.list())).not.toContain('planted');
  });

  it('is removed by route, account and name, with one row in the audit log (T-192)', async () => {
    const { credentials, audit } = await open();
    expect(await credentials.remove({ route: 'notion', email: 'ada@example.com', name: 'key' })).toBe(1);
    expect((await credentials.list()).map(({ email, name }) => `${email} ${name}`)).toEqual([
      'ada@example.com other',
      'grace@example.com key',
      'grace@example.com other',
    ]);
    expect(await credentials.remove({ route: 'notion' })).toBe(3);
    await expect(credentials.remove({ route: 'notion' })).rejects.toThrow('Nobody has entered that');
    const rows = await audit.list({ event: 'credential.', limit: 10 });
    expect(rows).toMatchObject([
      {
        event: 'credential.removed',
        details: { target: 'notion', accountId: 'ada', credential: 'key', count: '1' },
      },
      { event: 'credential.removed', details: { target: 'notion', count: '3' } },
    ]);
    expect(JSON.stringify(rows)).not.toContain('planted');
  });

  it('is asked of accounts that are there', async () => {
    const { credentials } = await open();
    await expect(credentials.list('nobody@example.com')).rejects.toThrow('nobody@example.com');
  });
});
