import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../../../../src/cli/cli-error.ts';
import { registerUpstream } from '../../../../src/cli/commands/operator/upstream.ts';
import { putBound } from '../../../storage/contract/upstream.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../../support/upstreams/open-id.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

/** A data folder, and a config file in it that names upstreams. */
async function install(upstreams: object): Promise<string[]> {
  const data = await newInstallation();
  const config = join(data, 'gatehouse.json');
  writeFileSync(
    config,
    JSON.stringify({
      publicUrl: 'http://localhost:3000',
      dangerously: { upstreamsOverHttp: true },
      upstreams,
    }),
  );
  return ['--data', data, '--config', config];
}

async function startWork(): Promise<OpenIdUpstream> {
  const work = await startOpenIdUpstream();
  onTestFinished(() => work.stop());
  work.allow('http://localhost:3000/upstream/work/callback');
  return work;
}

const idp = { label: 'Example Ltd.', issuer: 'https://idp.example', clientId: 'id', clientSecret: 'canary' };

const run = (...args: string[]) => runCommand(registerUpstream, ['upstream', ...args]);

describe('gatehouse upstream list', () => {
  it('shows what the settings have, with how many are linked, those that are gone, and no secret (T-191)', async () => {
    const given = await install({ idp, other: { ...idp, login: false } });
    await withInstallation(given[1] ?? '', ({ storage }) => putBound(storage, 'grace'));
    const { stdout } = await run('list', ...given);
    expect(stdout).toMatch(
      /idp +Example Ltd\. +login +1 +1 +0 +http:\/\/localhost:3000\/upstream\/idp\/callback\n/,
    );
    expect(stdout).toMatch(/other +Example Ltd\. +linking +0 +0 +0/);
    const json = JSON.parse((await run('list', '--json', ...given)).stdout);
    expect(json).toMatchObject([
      { name: 'idp', inSettings: true, accounts: 1, withTokens: 1, unreachable: 0 },
      {},
    ]);
    expect(stdout + JSON.stringify(json)).not.toContain('canary');
    const [flag = '', data = ''] = given;
    expect((await run('list', flag, data)).stdout).toMatch(/idp +- +gone +1 +1/);
  });

  it('of a name shows who is linked with it, since when, and never a token (T-191)', async () => {
    const given = await install({ idp });
    await withInstallation(given[1] ?? '', ({ storage }) => putBound(storage, 'grace'));
    const { stdout } = await run('list', 'idp', ...given);
    expect(stdout).toContain('grace there');
    expect(stdout).toMatch(/kept\n$/);
    const json = (await run('list', 'idp', '--json', ...given)).stdout;
    expect(JSON.parse(json)).toMatchObject([{ upstream: 'idp', accountId: 'grace', hasTokens: true }]);
    expect(stdout + json).not.toContain('tokens of');
    expect((await run('list', 'nothing', ...given)).error).toMatchObject({
      exitCode: exitCodes.usage,
      hint: 'They have idp.',
    });
  });
});

describe('gatehouse upstream test', () => {
  it('ends with 0 where nothing is to be mended, and names the callback URL', async () => {
    const work = await startWork();
    const given = await install({ work: work.settings() });
    const { stdout, error } = await run('test', 'work', ...given);
    expect(error).toBeUndefined();
    expect(stdout).toContain('http://localhost:3000/upstream/work/callback');
    expect(stdout).toContain('Nothing to mend was found.');
  });

  it('ends with 8 where something is, as JSON too, and never shows the secret (T-191)', async () => {
    const work = await startWork();
    const given = await install({ work: work.settings({ clientSecret: 'canary-of-a-secret' }) });
    const { stdout, error } = await run('test', 'work', '--json', ...given);
    expect(error).toMatchObject({ exitCode: exitCodes.faultsFound });
    expect(JSON.parse(stdout)).toMatchObject({ upstream: 'work', outcome: 'faults' });
    expect(stdout + String(error)).not.toContain('canary');
  });

  it('ends with 9 where the upstream cannot be asked, and with 2 for a name that is not in the settings', async () => {
    const work = await startWork();
    await work.down();
    const given = await install({ work: work.settings() });
    expect((await run('test', 'work', ...given)).error).toMatchObject({ exitCode: exitCodes.notExamined });
    expect((await run('test', 'nothing', ...given)).error).toMatchObject({ exitCode: exitCodes.usage });
  });
});

describe('gatehouse upstream end', () => {
  it('ends what came of logins there, of one account or all, and says how much', async () => {
    const given = await install({ idp });
    const [, data = ''] = given;
    const emails = await withInstallation(data, async ({ storage }) => {
      for (const person of ['grace', 'lin']) await putBound(storage, person);
      return Promise.all(['grace', 'lin'].map(async (id) => (await storage.accounts.find(id))?.email ?? ''));
    });
    const one = await run('end', 'idp', '--account', emails[0] ?? '', '--json', ...given);
    expect(JSON.parse(one.stdout)).toEqual({
      ended: 'idp',
      account: emails[0],
      links: 1,
      grants: 1,
      logins: 1,
    });
    await withInstallation(data, async ({ storage }) => {
      expect(await storage.artifacts.findGrant('grant of grace')).toBeUndefined();
      expect(await storage.artifacts.findGrant('grant of lin')).toBeDefined();
    });
    const all = await run('end', 'idp', ...given);
    expect(all.stdout).toMatch(/^Ended for everybody: links 1, grants 1, browser logins 1\./);
  });

  it('is refused for a name that neither the settings nor anybody has, and for an account that is not there', async () => {
    const given = await install({ idp });
    expect((await run('end', 'nothing', ...given)).error).toMatchObject({ exitCode: exitCodes.usage });
    expect(String((await run('end', 'idp', '--account', 'no@example.com', ...given)).error)).toContain(
      'There is no account no@example.com',
    );
  });
});
