// Also the operator's side of it: src/authorization-server/administration/audit.ts.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../../src/cli/cli-error.ts';
import { registerAudit } from '../../../src/cli/commands/audit.ts';
import { exitCodes } from '../../../src/cli/exit-codes.ts';
import { newInstallation, withInstallation } from '../support/installation.ts';
import { runCommand } from '../support/operator.ts';

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

  it('verify says that the log is whole, with its head to keep, and takes the head again', async () => {
    const data = await withEvents();
    const { stdout, error } = await run(data, 'verify');
    expect([error, stdout]).toEqual([
      undefined,
      expect.stringMatching(/^Whole: 3 events\.\nHead: 3:[\w-]{43}\n/),
    ]);
    const [, head = ''] = /Head: (\S+)/.exec(stdout) ?? [];
    expect((await run(data, 'verify', '--head', head)).error).toBeUndefined();
    expect((await run(data, 'verify', '--head', 'x')).error).toBeDefined();
  });

  it('verify finds what somebody changed in the database, and ends with an exit code of its own (T-197)', async () => {
    const data = await withEvents();
    const db = new Database(join(data, 'gatehouse.db'));
    db.exec("UPDATE audit SET details = '{}' WHERE seq = 2");
    db.close();
    const { stdout, error } = await run(data, 'verify');
    expect(stdout).toBe('Not whole:\nevent 2: changed\n');
    expect(error).toBeInstanceOf(CliError);
    expect((error as CliError).exitCode).toBe(exitCodes.faultsFound);
  });

  it('verify with a head beyond the end says where the log ends, and what that means (T-197)', async () => {
    const head = `9:${'x'.repeat(43)}`;
    const data = await withEvents();
    const { stdout, error } = await run(data, 'verify', '--head', head);
    const why = 'it was cut off, or put back from a backup that is older than the note.';
    expect(stdout).toBe(`Not whole:\nThe log ends at event 3, before the head that was noted: ${why}\n`);
    expect(error).toMatchObject({
      exitCode: exitCodes.faultsFound,
      message: 'The audit log does not reach the head that was noted.',
    });
    expect(JSON.parse((await run(data, 'verify', '--json', '--head', head)).stdout)).toMatchObject({
      isWhole: false,
      faults: [{ seq: 3, fault: 'ends_before_head' }],
    });
    const db = new Database(join(data, 'gatehouse.db'));
    db.exec('DELETE FROM audit');
    db.close();
    const emptied = await run(data, 'verify', '--head', head);
    expect(emptied.stdout).toBe(
      `Not whole:\nevent 1: cut off\nThe log is empty, without the head that was noted: ${why}\n`,
    );
    expect(emptied.error).toMatchObject({
      message: 'The audit log was changed by somebody who could write the database.',
    });
  });

  it('verify with another head of an event that is there says which', async () => {
    const { stdout, error } = await run(await withEvents(), 'verify', '--head', `2:${'x'.repeat(43)}`);
    expect(stdout).toBe('Not whole:\nevent 2: other head\n');
    expect(error).toMatchObject({ exitCode: exitCodes.faultsFound });
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
