// Also the operator's side of it: src/authorization-server/administration/audit.ts.
import { describe, expect, it } from 'vitest';
import { registerAudit } from '../../../../src/cli/commands/operator/audit.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

/** An installation with one account and a few events. */
async function withEvents(): Promise<string> {
  const data = await newInstallation();
  await withInstallation(data, ({ storage }) =>
    storage.audit.append([
      {
        at: 1_800_000_000,
        event: 'login.failed',
        details: { accountId: 'a1', userAgent: 'x\u001b[31m\u202ey' },
      },
      { at: 1_800_000_100, event: 'token.issued', details: { accountId: 'a1', clientId: 'c1' } },
    ]),
  );
  return data;
}

const run = (data: string, ...args: string[]) =>
  runCommand(registerAudit, ['audit', ...args, '--data', data]);

describe('gatehouse audit', () => {
  it('list shows what happened, commands of the operator included, and gives a terminal nothing to act on (T-190, T-197)', async () => {
    const data = await withEvents();
    const { stdout } = await run(data, 'list');
    expect(stdout).toMatch(/account\.added +operator=.* target=ada@example\.com/);
    expect(stdout).toMatch(/^3 +2027-01-15T08:01:40\.000Z +token\.issued +accountId=a1 clientId=c1$/m);
    expect([stdout.includes('\u001b'), stdout.includes('\u202e')]).toEqual([false, false]);
    const json = await run(data, 'list', '--json', '--event', 'login.', '--limit', '1');
    expect(JSON.parse(json.stdout)).toMatchObject([{ event: 'login.failed', details: { accountId: 'a1' } }]);
  });

  it('export prints a JSON object a line, filtered (T-190)', async () => {
    const data = await withEvents();
    const lines = async (...args: string[]) =>
      (await run(data, 'export', ...args)).stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).event);
    expect(await lines()).toEqual(['account.added', 'login.failed', 'token.issued']);
    expect(await lines('--client', 'c1', '--account', 'a1')).toEqual(['token.issued']);
    expect(await lines('--since', '2027-01-15T08:00:00Z', '--until', '2027-01-15T08:01:00Z')).toEqual([
      'login.failed',
    ]);
    expect((await run(data, 'export')).stdout).not.toMatch(/[^\x20-\x7E\n]/);
  });

  it('takes an account by its e-mail address as well, and refuses one that does not exist', async () => {
    const data = await withEvents();
    await withInstallation(data, async ({ storage }) => {
      const id = (await storage.accounts.findByEmail('ada@example.com'))?.id ?? '';
      await storage.audit.append([
        { at: 1_800_000_200, event: 'login.succeeded', details: { accountId: id } },
      ]);
    });
    const { stdout } = await run(data, 'list', '--json', '--account', 'ada@example.com', '--event', 'login.');
    expect(JSON.parse(stdout)).toMatchObject([{ event: 'login.succeeded' }]);
    const { error } = await run(data, 'export', '--account', 'nobody@example.com');
    expect(String(error)).toContain('There is no account nobody@example.com.');
  });

  it('gives what operators did to an account or a client with what else names it', async () => {
    const data = await withEvents();
    const id = await withInstallation(data, async ({ storage, administration }) => {
      await administration.accounts.disable('ADA@example.com');
      await administration.accounts.add('bob@example.com', 'correct horse battery staple');
      await storage.audit.append([
        { at: 1_800_000_200, event: 'client.approved', details: { operator: 'o', target: 'c1' } },
        { at: 1_800_000_201, event: 'client.approved', details: { operator: 'o', target: 'c2' } },
        { at: 1_800_000_202, event: 'grant.revoked', details: { operator: 'o', target: 'c1' } },
      ]);
      return (await storage.accounts.findByEmail('ada@example.com'))?.id ?? '';
    });
    const events = async (...args: string[]) =>
      JSON.parse((await run(data, 'list', '--json', ...args)).stdout).map(
        ({ event }: { event: string }) => event,
      );
    for (const account of ['Ada@example.com', id])
      expect(await events('--account', account)).toEqual(['account.added', 'account.disabled']);
    expect(await events('--client', 'c1')).toEqual(['token.issued', 'client.approved']);
    expect(await events('--client', 'c1', '--account', 'a1')).toEqual(['token.issued']);
  });

  it.each([
    ['--since', 'yesterday'],
    ['--limit', '0'],
  ])('%s %s is refused', async (option, value) => {
    expect((await run('none', 'list', option, value)).error).toBeDefined();
  });
});
