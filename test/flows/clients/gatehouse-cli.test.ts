import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { createBrowserStub } from '../../support/browser-stub.ts';
import { ada } from '../../support/gatehouse.ts';
import { post } from '../../support/oauth.ts';
import { decide } from '../../support/person.ts';
import { runProgram } from '../../support/program.ts';
import { commandLine, grace, runGatehouse, type Served, serveGatehouse } from '../../support/served.ts';
import { placeOf } from '../../support/test-storage.ts';
import { commandLineUser } from './support/command-line-user.ts';

let served: Served;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-cli-'));
  served = await serveGatehouse();
  await served.addAccount(grace);
});
afterAll(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

const userOf = (name: string) => commandLineUser(served.mcpUrl, join(folder, name));

describe('gatehouse login, tools and call', () => {
  it('log in through the URL that is printed, list the tools and call one', async () => {
    const user = userOf('printed');
    const login = await user.login();
    expect(login.code, login.stderr).toBe(exitCodes.ok);
    expect(JSON.parse(login.stdout)).toMatchObject({ server: served.mcpUrl, issuer: served.url });
    expect(login.page).toMatch(/close this/i);

    expect((await user.answerOf('whoami')).scopes).toEqual(['notes:read', 'notes:write']);
    const tools = await runGatehouse(['tools', served.mcpUrl, '--json'], { env: user.env });
    const listed = JSON.parse(tools.stdout) as { tools: { name: string }[] };
    expect(listed.tools.map(({ name }) => name)).toContain('add_note');
    const table = await runGatehouse(['tools', served.mcpUrl], { env: user.env });
    expect(table.stdout).toMatch(/^search_notes\s+.*query: string/m);
  });

  it('open the browser of the user', async () => {
    const user = userOf('opened');
    const stub = await createBrowserStub(folder);
    const client = runProgram(commandLine, ['login', served.mcpUrl], {
      env: { ...user.env, BROWSER: stub.program },
      input: '',
    });
    await fetch(await decide(await stub.opened()));
    expect(await client.ended, client.written.stderr).toBe(exitCodes.ok);
    expect((await user.answerOf('whoami')).client).toEqual(expect.any(String));
  });

  it('keep tokens in a private file only: not in what they print, nor in the log of the server (A9-04, T-191)', async () => {
    const user = userOf('quiet');
    const login = await user.login();
    const called = await user.call('whoami');
    const file = join(user.env.GATEHOUSE_HOME, 'tokens.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const kept = await readFile(file, 'utf8');
    const tokens = [...kept.matchAll(/"(?:access|refresh)Token": "([^"]+)"/g)].map(([, token = '']) => token);
    expect(tokens).toHaveLength(2);
    const printed = [login.stdout, login.stderr, called.stdout, called.stderr, served.log()].join('\n');
    expect(tokens.filter((token) => printed.includes(token))).toEqual([]);
  });

  it('say which scope is missing, and how to log in with it', async () => {
    const user = userOf('reader');
    await user.login({ scopes: ['notes:read'] });
    const refused = await user.call('add_note', { text: 'no' });
    expect(refused.code).toBe(exitCodes.scopeMissing);
    expect(refused.stderr).toMatch(/notes:write/);
    const [, scopes = ''] = /login \S+ --scope '([^']+)'/.exec(refused.stderr) ?? [];
    expect(scopes.split(' ')).toContain('notes:write');

    expect((await user.login({}, ['--scope', scopes])).code).toBe(exitCodes.ok);
    expect((await user.answerOf('add_note', { text: 'yes' })).text).toBe('yes');
  });

  it('say so with --dpop where the login was bound to a key, so that the next one is as well', async () => {
    const user = userOf('bound-reader');
    await user.login({ scopes: ['notes:read'] }, ['--dpop']);
    const refused = await user.call('add_note', { text: 'no' });
    expect(refused.code).toBe(exitCodes.scopeMissing);
    expect(refused.stderr).toMatch(/login \S+ --scope '[^']+' --dpop$/m);
  });

  it('say which of the scopes that were asked for are not granted', async () => {
    const login = await userOf('admin').login({}, ['--scope', 'notes:read admin']);
    expect(login.code, login.stderr).toBe(exitCodes.ok);
    expect(login.stderr).toContain('\nRequested, but not granted: admin\n');
    expect(JSON.parse(login.stdout)).toMatchObject({ scopes: ['notes:read'], notGranted: ['admin'] });
  });

  it('say for how long a code for another device is waited for, where that is shorter than its life', async () => {
    const { env } = userOf('device');
    const args = ['login', served.mcpUrl, '--device', '--timeout', '2'];
    const { code, stderr } = await runGatehouse(args, { env });
    expect(code, stderr).toBe(exitCodes.loginNeeded);
    expect(stderr).toMatch(/it expires in [12] s\n/);
  });

  it('log in with OpenID Connect as well, and renew that login', async () => {
    const user = userOf('openid');
    const login = await user.login({}, ['--scope', 'notes:read openid']);
    expect(login.code, login.stderr).toBe(exitCodes.ok);
    const file = join(user.env.GATEHOUSE_HOME, 'tokens.json');
    const kept = await readFile(file, 'utf8');
    await writeFile(file, kept.replace(/("(?:expiresAt|renewAt)": )\d+/g, '$11'));
    await user.answerOf('whoami');
    expect(await readFile(file, 'utf8')).not.toMatch(/"expiresAt": 1,/);
  });

  it('say that a login is needed where there is none', async () => {
    const refused = await userOf('nobody').call('whoami');
    expect(refused.code).toBe(exitCodes.loginNeeded);
    expect(refused.stderr).toContain(`login ${served.mcpUrl}`);
  });

  it('say that the login was denied', async () => {
    const login = await userOf('denied').login({ decision: 'deny' });
    expect(login.code, login.stderr).toBe(exitCodes.loginNeeded);
    expect(JSON.parse(login.stdout)).toMatchObject({ error: { reason: 'authorization_denied' } });
  });

  it('ask for a new login once the refresh token was revoked, and go on after it', async () => {
    const user = userOf('revoked');
    await user.login();
    const kept = await readFile(join(user.env.GATEHOUSE_HOME, 'tokens.json'), 'utf8');
    const field = (name: string): string => new RegExp(`"${name}": "([^"]+)"`).exec(kept)?.[1] ?? '';
    const revoked = await post(`${served.url}/revoke`, {
      token: field('refreshToken'),
      client_id: field('clientId'),
    });
    expect(revoked.status).toBe(200);
    expect((await user.call('whoami')).code).toBe(exitCodes.loginNeeded);
    expect((await user.login()).code).toBe(exitCodes.ok);
    await user.answerOf('whoami');
  });

  it('ask for a new login once the operator has ended all tokens, and go on after it', async () => {
    const user = userOf('ended');
    await user.login({ person: grace });
    await user.answerOf('whoami');
    const { code, stderr } = await runGatehouse(
      ['account', 'password', grace.email, '--password-stdin', ...(await placeOf(served.folder))],
      { input: grace.password },
    );
    expect(code, stderr).toBe(0);
    expect((await user.call('whoami')).code).toBe(exitCodes.loginNeeded);
    expect((await user.login({ person: grace })).code).toBe(exitCodes.ok);
    await user.answerOf('whoami');
  });

  it('never show one account the notes of the other', async () => {
    const [one, other] = [userOf('ada'), userOf('grace')];
    await one.login({ person: ada });
    await other.login({ person: grace });
    await one.answerOf('add_note', { text: 'of ada' });
    await other.answerOf('add_note', { text: 'of grace' });
    const notes = { query: 'of ' };
    expect(await one.answerOf('search_notes', notes)).toMatchObject({ notes: [{ text: 'of ada' }] });
    expect(await other.answerOf('search_notes', notes)).toMatchObject({ notes: [{ text: 'of grace' }] });
  });
});
