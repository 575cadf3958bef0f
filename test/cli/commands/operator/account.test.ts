import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../../src/cli/cli-error.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { artifact } from '../../../storage/contract/subject.ts';
import { newInstallation, operate, withInstallation } from '../../support/installation.ts';

const password = 'a password on standard input';

describe('gatehouse account', () => {
  it('add takes the password from standard input and shows it nowhere (T-191)', async () => {
    const data = testFolder();
    const args = ['account', 'add', ' Grace@Example.com', '--password-stdin', '--data', data];
    const { stdout, stderr } = await operate(args, { input: `${password}\n` });
    expect([stdout, stderr]).toEqual(['Added grace@example.com.\n', '']);
    await withInstallation(data, async ({ storage }) => {
      expect((await storage.accounts.findByEmail('grace@example.com'))?.passwordHash).toMatch(
        /^\$argon2id\$/,
      );
    });
  });

  it('add makes no installation in a folder that is not there: its name is a slip of the pen', async () => {
    const data = join(testFolder(), 'dtaa');
    const args = ['account', 'add', 'grace@example.com', '--password-stdin', '--data', data];
    await expect(operate(args, { input: password })).rejects.toMatchObject({
      exitCode: exitCodes.cannotServe,
      message: `There is no folder ${data}.`,
      hint: expect.stringContaining('start the server once'),
    });
    expect(existsSync(data)).toBe(false);
  });

  it('add makes the installation of a config file, for accounts may come before the first start', async () => {
    const folder = testFolder();
    const config = join(folder, 'gatehouse.json');
    writeFileSync(config, JSON.stringify({ data: 'state/data' }));
    const args = ['account', 'add', 'grace@example.com', '--password-stdin', '--config', config];
    await operate(args, { input: password });
    expect(existsSync(join(folder, 'state', 'data', 'gatehouse.db'))).toBe(true);
  });

  it('add gives JSON without a hash where asked for (T-192)', async () => {
    const data = await newInstallation();
    const args = ['account', 'add', 'grace@example.com', '--password-stdin', '--json', '--data', data];
    const { stdout } = await operate(args, { input: password });
    expect(JSON.parse(stdout)).toEqual({
      id: expect.stringMatching(/^acct_/),
      email: 'grace@example.com',
      createdAt: expect.any(Number),
    });
  });

  it('add twice is refused the second time and changes nothing (T-192)', async () => {
    const data = await newInstallation();
    const before = await withInstallation(data, ({ storage }) => storage.accounts.list());
    const args = ['account', 'add', 'ADA@example.com', '--password-stdin', '--data', data];
    await expect(operate(args, { input: password })).rejects.toThrow(
      'There is an account ada@example.com already.',
    );
    expect(await withInstallation(data, ({ storage }) => storage.accounts.list())).toEqual(before);
  });

  it.each([
    ['an address that is none', 'ada', password, /is not an e-mail address/],
    ['a password that is too short', 'grace@example.com', 'short', /at least 8 characters/],
    ['no password', 'grace@example.com', '', /at least 8 characters/],
  ])(
    'add refuses %s with the reason, and does not repeat the password',
    async (_what, email, input, reason) => {
      const data = await newInstallation();
      const refusal = operate(['account', 'add', email, '--password-stdin', '--data', data], { input });
      await expect(refusal).rejects.toThrow(reason);
      if (input !== '') await expect(refusal).rejects.not.toThrow(input);
      expect(await withInstallation(data, ({ storage }) => storage.accounts.list())).toHaveLength(1);
    },
  );

  it('list shows addresses, times and ids, and no hash (T-192)', async () => {
    const data = await newInstallation();
    const table = (await operate(['account', 'list', '--data', data])).stdout;
    expect(table).toMatch(
      /^E-MAIL +ADDED +STATE +ID +UPSTREAMS\nada@example\.com +\d{4}-\d\d-\d\dT[\d:.]+Z +active +acct_[\w-]+\n$/,
    );
    const json = (await operate(['account', 'list', '--json', '--data', data])).stdout;
    expect(JSON.parse(json)).toEqual([
      { id: expect.any(String), email: 'ada@example.com', createdAt: expect.any(Number) },
    ]);
    expect(table + json).not.toContain('argon2');
  });

  it('disable ends the sessions of an account and says so, enable opens it again, show tells which it is (T-192)', async () => {
    const data = await newInstallation();
    await withInstallation(data, async ({ storage }) => {
      const account = await storage.accounts.findByEmail('ada@example.com');
      await storage.artifacts.commit([artifact('s', { kind: 'Session', accountId: account?.id ?? '' })]);
    });
    const run = async (...args: string[]) => (await operate(['account', ...args, '--data', data])).stdout;
    expect(await run('disable', 'ada@example.com')).toBe(
      'Disabled ada@example.com. Its sessions and tokens have ended.\n',
    );
    expect(
      await withInstallation(data, ({ storage }) => storage.artifacts.find('Session', 's')),
    ).toBeUndefined();
    expect(await run('show', 'ada@example.com')).toMatch(/^Disabled +since \d{4}-/m);
    expect(JSON.parse(await run('show', 'ada@example.com', '--json'))).toMatchObject({
      email: 'ada@example.com',
      disabledAt: expect.any(Number),
    });
    expect(await run('list')).toContain(' disabled ');
    expect(await run('enable', 'ada@example.com')).toBe('Enabled ada@example.com.\n');
    expect(await run('show', 'ada@example.com')).toMatch(/^Disabled +no$/m);
    await expect(run('disable', 'nobody@example.com')).rejects.toThrow(/There is no account/);
  });

  it('password ends the sessions of the account; twice is as good as once (T-192)', async () => {
    const data = await newInstallation();
    const ada = await withInstallation(data, async ({ storage }) => {
      const account = await storage.accounts.findByEmail('ada@example.com');
      await storage.artifacts.commit([artifact('s', { kind: 'Session', accountId: account?.id ?? '' })]);
      return account;
    });
    for (let time = 0; time < 2; time++) {
      const args = ['account', 'password', 'ada@example.com', '--password-stdin', '--data', data];
      const { stdout } = await operate(args, { input: password });
      expect(stdout).toBe('Changed. The sessions and tokens of ada@example.com have ended.\n');
    }
    await withInstallation(data, async ({ storage }) => {
      expect((await storage.accounts.find(ada?.id ?? ''))?.passwordHash).not.toBe(ada?.passwordHash);
      expect(await storage.artifacts.find('Session', 's')).toBeUndefined();
    });
  });

  it('remove takes the account away; a second time says that there is none (T-192)', async () => {
    const data = await newInstallation();
    const args = ['account', 'remove', 'ada@example.com', '--data', data];
    expect((await operate([...args, '--json'])).stdout).toBe('{\n  "removed": "ada@example.com"\n}\n');
    await expect(operate(args)).rejects.toThrow('There is no account ada@example.com.');
    expect(await withInstallation(data, ({ storage }) => storage.accounts.list())).toEqual([]);
  });

  it.each([['list'], ['remove', 'ada@example.com']])(
    '%s in a folder without a database is an error and makes none',
    async (...command) => {
      const data = join(testFolder(), 'nothing');
      await expect(operate(['account', ...command, '--data', data])).rejects.toMatchObject({
        message: `There is no Gatehouse database in ${data}.`,
        exitCode: 7,
        hint: expect.stringContaining('--data'),
      });
      expect(existsSync(data)).toBe(false);
    },
  );
});
