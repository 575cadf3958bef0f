import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../../../../src/cli/cli-error.ts';
import { registerBackup, registerRestore } from '../../../../src/cli/commands/operator/backup.ts';
import { registerUpstream } from '../../../../src/cli/commands/operator/upstream.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { putBound } from '../../../storage/contract/upstream.ts';
import { repository, runProgram } from '../../../support/program.ts';
import { commandLine } from '../../../support/served.ts';
import { newInstallation, operate, withInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

/** Root without its powers: it owns this checkout, wherever that lies, and has no right to what is another's. */
const powerless = ['setpriv', '--bounding-set', '-all', '--inh-caps', '-all', '--no-new-privs'];

/** Runs a command as a user who has no right to the folder. */
async function runAsStranger(folder: string, args: readonly string[]) {
  if (isRoot) chownSync(folder, nobody, nobody);
  else chmodSync(folder, 0);
  onTestFinished(() => chmodSync(folder, 0o700));
  const [program = '', ...before] = [...(isRoot ? powerless : []), process.execPath];
  const child = spawn(program, [...before, commandLine, ...args, '--data', folder], { cwd: repository });
  child.stdin.end('correct horse battery');
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stderr };
}

describe('a command of the operator', () => {
  it.skipIf(process.platform === 'win32')(
    'run by another user is refused, and says why (T-192)',
    async () => {
      const folder = await newInstallation();
      const listed = await runAsStranger(folder, ['account', 'list']);
      expect(listed.code, listed.stderr).toBe(exitCodes.cannotServe);
      expect(listed.stderr).toContain('This user cannot enter the data folder.');
      const added = await runAsStranger(folder, ['account', 'add', 'eve@example.com', '--password-stdin']);
      expect(added.code, added.stderr).toBe(exitCodes.cannotServe);
      const looked = await runAsStranger(folder, ['check-config']);
      expect(looked, looked.stderr).toMatchObject({ code: exitCodes.cannotServe });
      expect(looked.stderr).toContain('data cannot be written (EACCES). Run this as the user');
      const served = await runAsStranger(folder, ['stdio']);
      expect(served, served.stderr).toMatchObject({ code: exitCodes.cannotServe });
      expect(served.stderr).toContain('This user cannot enter the data folder.');
      if (!isRoot) chmodSync(folder, 0o700);
      expect(await withInstallation(folder, ({ storage }) => storage.accounts.list())).toHaveLength(1);
    },
  );

  it('killed at any moment leaves its work done or not begun, and a database that opens (T-192)', async () => {
    const folder = await newInstallation();
    for (const [number, delayMs] of [0, 60].entries()) {
      const email = `killed-${number}@example.com`;
      const args = ['account', 'add', email, '--password-stdin', '--data', folder];
      const adding = runProgram(commandLine, args, { input: 'correct horse battery' });
      let isOver = false;
      void adding.ended.then(() => {
        isOver = true;
      });
      while (!isOver && !existsSync(join(folder, 'gatehouse.db-wal'))) await wait(1);
      await wait(delayMs);
      adding.process.kill('SIGKILL');
      await adding.ended;

      const again = runProgram(commandLine, args, { input: 'correct horse battery' });
      const code = await again.ended;
      const wasDone = /There is an account/.test(again.written.stderr);
      expect(wasDone || code === exitCodes.ok, again.written.stderr).toBe(true);
      const accounts = await withInstallation(folder, ({ storage }) => storage.accounts.list());
      expect(accounts.filter((account) => account.email === email)).toHaveLength(1);
    }
  });
});

/** A config file of an installation, with a fault that has nothing to do with what a command needs. */
function faultyConfig(settings: object): string {
  const file = join(testFolder(), 'gatehouse.json');
  writeFileSync(file, JSON.stringify({ routes: { a: { backend: { comand: 'x' } } }, ...settings }));
  return file;
}

describe('a config file that is faulty elsewhere', () => {
  const idp = {
    label: 'Example Ltd.',
    issuer: 'https://idp.example',
    clientId: 'id',
    clientSecret: 'canary',
  };

  it('tells account reset the public URL, and the fault where that is the one', async () => {
    const data = await newInstallation();
    const reset = (settings: object, ...more: string[]) =>
      operate([
        'account',
        'reset',
        'ada@example.com',
        '--config',
        faultyConfig({ data, ...settings }),
        ...more,
      ]);
    const { stdout, stderr } = await reset({ publicUrl: 'https://mcp.example.com/', listen: 5 });
    expect(stdout).toMatch(/^https:\/\/mcp\.example\.com\/\S+\n$/);
    expect(stderr).not.toContain('publicUrl');
    await expect(reset({ publicUrl: 'http://mcp.example.com' })).rejects.toThrow(
      /^The settings cannot be used:\n- publicUrl: [^\n]*$/,
    );
    await expect(reset({ publcUrl: 'https://mcp.example.com' })).rejects.toThrow('did you mean publicUrl?');
    const given = ['--public-url', 'https://other.example.com'];
    expect((await reset({ publicUrl: 5 }, ...given)).stdout).toMatch(/^https:\/\/other\.example\.com\//);
    await expect(reset({}, '--public-url', 'nothing')).rejects.toThrow('publicUrl: must be an absolute URL');
  });

  it('tells client add and client invite what there is about clients', async () => {
    const data = await newInstallation();
    const registration = 'initial_access_token';
    const clients = { registration, clientCredentials: true };
    const config = ['--config', faultyConfig({ data, clients })];
    const robot = ['A robot', '--auth-method', 'client_secret_basic', '--grant-type', 'client_credentials'];
    const added = await operate(['client', 'add', ...robot, '--scope', 'notes:read', ...config]);
    expect(added.stderr).not.toContain('clients.clientCredentials');
    expect((await operate(['client', 'invite', ...config])).stderr).not.toContain('of no use');
    const faulty = ['--config', faultyConfig({ data, clients: { registration: 'opn' } })];
    await expect(operate(['client', 'invite', ...faulty])).rejects.toThrow(
      /^The settings cannot be used:\n- clients\.registration: [^\n]*$/,
    );
  });

  it('tells restore where the data goes, also where there is none yet', async () => {
    const from = await newInstallation();
    const backup = join(testFolder(), 'backup');
    await runCommand(registerBackup, ['backup', backup, '--data', from]);
    const data = join(testFolder(), 'new');
    const restore = (settings: object) =>
      runCommand(registerRestore, ['restore', backup, '--config', faultyConfig(settings)]);
    expect(await restore({ data })).toMatchObject({ error: undefined });
    expect(existsSync(join(data, 'gatehouse.db'))).toBe(true);
    expect((await restore({ dta: data })).error).toMatchObject({
      message: expect.stringContaining('did you mean data?'),
      hint: expect.stringContaining('--data'),
    });
  });

  it('tells upstream about upstreams; what came of one can be ended whatever the file says of them', async () => {
    const data = await newInstallation();
    await withInstallation(data, ({ storage }) => putBound(storage, 'grace'));
    const upstream = (settings: object, ...words: string[]) =>
      runCommand(registerUpstream, ['upstream', ...words, '--config', faultyConfig({ data, ...settings })]);
    const publicUrl = 'https://mcp.example.com';
    const { stdout } = await upstream({ publicUrl, upstreams: { idp } }, 'list');
    expect(stdout).toMatch(/idp +Example Ltd\. .*https:\/\/mcp\.example\.com\/upstream\/idp\/callback\n/);
    const faulty = { upstreams: { idp: { ...idp, isuer: 'x' } } };
    expect(String((await upstream(faulty, 'list')).error)).toMatch(
      /The settings cannot be used:\n- upstreams\.idp\.isuer: [^\n]*$/,
    );
    expect((await upstream(faulty, 'list', 'idp')).stdout).toContain('grace there');
    expect((await upstream(faulty, 'end', 'idp')).stdout).toContain('Ended for everybody: links 1');
    expect(String((await upstream(faulty, 'end', 'idp')).error)).toContain('upstreams.idp.isuer');
  });
});
