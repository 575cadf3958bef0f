import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exitCodes } from '../../../../src/cli/cli-error.ts';
import { registerCheckConfig } from '../../../../src/cli/commands/server/check-config.ts';
import { openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { earlierDataFolder } from '../../../storage/sqlite/earlier-database.ts';
import { newInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

/** Checks a config file that says this. */
function check(settings: object, ...options: string[]) {
  const folder = testFolder();
  const file = join(folder, 'gatehouse.json');
  writeFileSync(file, JSON.stringify(settings));
  return { folder, ran: runCommand(registerCheckConfig, ['check-config', '--config', file, ...options]) };
}

describe('gatehouse check-config', () => {
  it('finds settings fit for use, and makes nothing', async () => {
    const { folder, ran } = check({ publicUrl: 'https://a.example', trustedProxies: ['loopback'] });
    expect(await ran).toEqual({
      stdout: `The first start makes ${join(folder, 'data')}.\nThe settings can be used.\n`,
      stderr: '',
      error: undefined,
    });
    expect(readdirSync(folder)).toEqual(['gatehouse.json']);
  });

  it('says that the next start brings the database up, and what to do before (T-174)', async () => {
    const data = await earlierDataFolder();
    const { stdout, error } = await runCommand(registerCheckConfig, ['check-config', '--data', data]);
    expect(stdout).toMatch(
      /\nThe next start brings the database from schema 11 to \d+, which earlier versions do/,
    );
    expect(stdout).toContain(` backup before-upgrade --data ${data}\nThe settings can be used.\n`);
    expect(error).toBeUndefined();
  });

  it('says that no file was read where none is named', async () => {
    const { stdout } = await runCommand(registerCheckConfig, ['check-config', '--data', testFolder()]);
    expect(stdout).toMatch(/^No config file is named with --config/);
  });

  it('says that a file that lies there was not read where none is named', async () => {
    const folder = testFolder();
    vi.spyOn(process, 'cwd').mockReturnValue(folder);
    onTestFinished(() => void vi.restoreAllMocks());
    const ran = () => runCommand(registerCheckConfig, ['check-config', '--data', join(folder, 'data')]);
    const said = 'gatehouse.json lies in this folder and was not read';
    expect((await ran()).stdout).not.toContain(said);
    writeFileSync(join(folder, 'gatehouse.json'), '{}');
    expect((await ran()).stdout).toContain(`\nWarning: ${said}`);
    const named = await runCommand(registerCheckConfig, ['check-config', '--config', 'gatehouse.json']);
    expect(named.stdout).not.toContain(said);
  });

  it('warns of what can be used but is probably not meant', async () => {
    const { stdout, error } = await check({ publicUrl: 'https://a.example' }).ran;
    expect(stdout).toMatch(/^Warning: .*trustedProxies is empty/);
    expect(error).toBeUndefined();
  });

  it('warns of a data folder that every user of the machine may write', async () => {
    const data = await newInstallation();
    chmodSync(data, 0o777);
    const { stdout, error } = await runCommand(registerCheckConfig, ['check-config', '--data', data]);
    expect(stdout).toContain('\nWarning: All users of this machine may write to the data folder (mode 777)');
    expect(error).toBeUndefined();
  });

  it('warns of a data folder that lost its database, and makes none (T-172)', async () => {
    const data = testFolder();
    const { storage } = await openDataFolder(data, { now: () => 86_400 });
    await storage.close();
    rmSync(join(data, 'gatehouse.db'));
    const { stdout, error } = await runCommand(registerCheckConfig, ['check-config', '--data', data]);
    expect(stdout).toMatch(
      /\nWarning: No database was found in .*, though its keys are of 1970-01-02: the next start makes a new one, .*restore a backup first\.\nThe settings can be used\.\n$/,
    );
    expect(error).toBeUndefined();
    expect(readdirSync(data)).toEqual(['gatehouse.keys.json']);
  });

  it('names every problem of the settings', async () => {
    const { error } = await check({ publicURL: 'https://a.example', listen: { port: -1 } }).ran;
    expect(String(error)).toMatch(/did you mean publicUrl\?/);
    expect(String(error)).toMatch(/listen\.port/);
    const json = await check({ publicURL: 'https://a.example', listen: { port: -1 } }, '--json').ran;
    expect(json.error).toMatchObject({ problems: JSON.parse(json.stdout).problems });
    expect(JSON.parse(json.stdout).problems).toHaveLength(2);
  });

  it('refuses routes that the server would not start with, and starts none of their programs', async () => {
    const backend = { command: '/there/is/no/such/program' };
    const missing = { a: { backend: { ...backend, env: ['NOT_SET_ANYWHERE'] } } };
    expect(String((await check({ routes: missing }).ran).error)).toMatch(
      /routes\.a\.backend: .*NOT_SET_ANYWHERE/,
    );
    expect(JSON.parse((await check({ routes: missing }, '--json').ran).stdout)).toEqual({
      problems: [expect.stringMatching(/^routes\.a\.backend: .*NOT_SET_ANYWHERE/)],
    });
    const { stdout } = await check({ mcpServers: { a: { ...backend, env: { TOKEN: 'canary' } } } }, '--print')
      .ran;
    expect(stdout).toContain('The settings can be used.');
    expect(stdout).not.toContain('canary');
  });

  it('refuses upstreams that the server would not start with, and asks none of them (T-088)', async () => {
    const upstreams = {
      work: { issuer: 'https://no-such-host.invalid', clientId: 'c', clientSecretFile: 'missing' },
    };
    expect(String((await check({ upstreams }).ran).error)).toMatch(
      /upstreams\.work\.clientSecretFile: .*missing cannot be read/,
    );
    const told = { work: { issuer: 'https://no-such-host.invalid', clientId: 'c', clientSecret: 's' } };
    expect((await check({ upstreams: told }).ran).stdout).toContain('The settings can be used.');
  });

  it('says that the secret of a client of the settings cannot be read', async () => {
    const nightly = {
      clientId: 'nightly',
      name: 'Job',
      authMethod: 'client_secret_basic',
      secretFile: 'none',
    };
    const { error } = await check({ clients: { preRegistered: [nightly] } }).ran;
    expect(String(error)).toMatch(/clients\.preRegistered\.0\.secretFile: .*none cannot be read/);
  });

  it('names rules of scopes and resources there are not, beside routes that cannot be used', async () => {
    const { error } = await check({
      routes: { a: { backend: { command: 'x', env: ['NOT_SET_ANYWHERE'] }, scopes: { see: 'See.' } } },
      clients: {
        preRegistered: [
          { clientId: 'app', name: 'App', redirectUris: ['https://a.example/b'], scopes: ['sea'] },
        ],
      },
    }).ran;
    expect(String(error)).toMatch(/routes\.a\.backend: .*NOT_SET_ANYWHERE/);
    expect(String(error)).toMatch(/clients\.preRegistered\.0\.scopes: there is no sea here/);
  });

  it('looks at the settings as serve has them with the same port and public URL', async () => {
    const settings = (place: string) => ({
      routes: { notes: { backend: { command: process.execPath } } },
      upstreams: {
        work: {
          issuer: 'https://idp.example',
          clientId: 'c',
          clientSecret: 's',
          resources: [`${place}/notes/mcp`],
        },
      },
    });
    const moved = settings('http://localhost:4123');
    expect(String((await check(moved).ran).error)).toMatch(/there is no http:\/\/localhost:4123\/notes\/mcp/);
    expect((await check(moved, '--port', '4123').ran).error).toBeUndefined();
    const named = settings('https://a.example');
    expect((await check(named, '--public-url', 'https://a.example').ran).error).toBeUndefined();
    expect(String((await check({}, '--port', 'x').ran).error)).toMatch(/A port is a number/);
  });

  it('says what is wrong with the data folder', async () => {
    const data = await newInstallation();
    chmodSync(join(data, 'gatehouse.keys.json'), 0o644);
    const { error } = await check({}, '--data', data).ran;
    expect(error).toMatchObject({
      exitCode: exitCodes.cannotServe,
      message: expect.stringMatching(/chmod 600/),
    });
  });

  it('prints all settings with their defaults, as JSON with the warnings where that is asked for', async () => {
    const data = await newInstallation();
    const printed = await check({}, '--print', '--data', data).ran;
    expect(printed.stdout).toMatch(/"accessTokenSeconds": 3600/);
    const json = JSON.parse((await check({}, '--json', '--data', data).ran).stdout);
    expect(json).toMatchObject({
      warnings: [],
      data: { state: 'ready' },
      settings: { log: { level: 'info' } },
    });
  });

  it('prints no secret of an upstream (T-194)', async () => {
    const upstreams = { work: { issuer: 'https://idp.example', clientId: 'c', clientSecret: 'canary' } };
    for (const option of ['--print', '--json']) {
      const { stdout } = await check({ upstreams }, option).ran;
      expect(stdout).toContain('"clientSecret": "(set)"');
      expect(stdout).not.toContain('canary');
    }
  });
});
