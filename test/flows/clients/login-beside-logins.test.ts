import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { decide } from '../../support/person.ts';
import { runProgram } from '../../support/program.ts';
import { commandLine, runGatehouse, type Served, serveGatehouse } from '../../support/served.ts';
import { commandLineUser } from './support/command-line-user.ts';

let served: Served;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-logins-'));
  served = await serveGatehouse();
});
afterAll(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

const userOf = (name: string) => commandLineUser(served.mcpUrl, join(folder, name));

type Kept = { credentials: Record<string, { clientId: string; expiresAt?: number; renewAt?: number }> };

/** Lets the access tokens of all logins end. */
async function age({ env: { GATEHOUSE_HOME } }: ReturnType<typeof userOf>): Promise<void> {
  const file = join(GATEHOUSE_HOME, 'tokens.json');
  const kept = JSON.parse(await readFile(file, 'utf8')) as Kept;
  for (const credential of Object.values(kept.credentials))
    Object.assign(credential, { expiresAt: 1, renewAt: 1 });
  await writeFile(file, JSON.stringify(kept));
}

/** Begins a login, as a process. */
const begin = ({ env }: ReturnType<typeof userOf>, url: string, ...options: string[]) =>
  runProgram(commandLine, ['login', url, '--no-browser', '--json', ...options], { env, input: '' });

async function goOn(login: ReturnType<typeof begin>): Promise<number | null> {
  const [, url = ''] = await login.waitFor('stderr', /^Open this URL: (\S+)$/m);
  await fetch(await decide(url));
  return login.ended;
}

describe('a login beside others at the same authorization server (A5-10, CL-2)', () => {
  it('that is refused for its scope says so, changes nothing, and registers nobody', async () => {
    const user = userOf('typo');
    await user.login();
    const refused = await runGatehouse(['login', served.mcpUrl, '--no-browser', '--scope', 'notes:reed'], {
      env: user.env,
    });
    expect(refused.code).toBe(exitCodes.loginNeeded);
    expect(refused.stderr).not.toContain('Registered');
    expect(refused.stderr).toMatch(/"invalid_scope" \("[^"\\]+"\)/);
    await age(user);
    await user.answerOf('whoami');
    const logout = await runGatehouse(['logout', served.mcpUrl], { env: user.env });
    expect(logout.stderr).toBe(`Logged out of ${served.mcpUrl}\n`);
  });

  it('that begins at the same time registers with it, and both can be renewed and ended', async () => {
    const user = userOf('both');
    const urls = [served.mcpUrl, `${served.url}/rest`];
    const logins = urls.map((url) => begin(user, url));
    expect(await Promise.all(logins.map(goOn)), logins.map(({ written }) => written.stderr).join()).toEqual([
      0, 0,
    ]);
    const ids = logins.map(({ written }) => (JSON.parse(written.stdout) as { client: string }).client);
    expect(new Set(ids).size).toBe(1);
    await age(user);
    for (const url of urls) {
      const token = await runGatehouse(['token', url], { env: user.env });
      expect(token.code, token.stderr).toBe(exitCodes.ok);
    }
    const logout = await runGatehouse(['logout', '--all'], { env: user.env });
    expect(logout.stderr).not.toContain('only here');
  });

  it('that is on its way while logout --all forgets its client keeps it again once it has succeeded', async () => {
    const user = userOf('forgotten');
    const login = begin(user, served.mcpUrl);
    await login.waitFor('stderr', /^Open this URL: \S+$/m);
    const logout = await runGatehouse(['logout', '--all'], { env: user.env });
    expect([logout.code, logout.stderr]).toEqual([
      exitCodes.ok,
      expect.stringMatching(/^Deleted the client \S+ of /),
    ]);
    expect(await goOn(login), login.written.stderr).toBe(exitCodes.ok);
    await age(user);
    await user.answerOf('whoami');
    const next = begin(user, `${served.url}/rest`);
    expect(await goOn(next), next.written.stderr).toBe(exitCodes.ok);
    const [first, second] = [login, next].map(
      ({ written }) => (JSON.parse(written.stdout) as { client: string }).client,
    );
    expect(second).toBe(first);
  });

  it('with another client that nobody completes changes nothing', async () => {
    const user = userOf('abandoned');
    const { clientId } = await preRegistered('abandoned');
    await user.login();
    const before = await readFile(join(user.env.GATEHOUSE_HOME, 'tokens.json'), 'utf8');
    const login = begin(user, served.mcpUrl, '--client-id', clientId, '--timeout', '1');
    expect(await login.ended, login.written.stderr).toBe(exitCodes.loginNeeded);
    expect(await readFile(join(user.env.GATEHOUSE_HOME, 'tokens.json'), 'utf8')).toBe(before);
    await age(user);
    await user.answerOf('whoami');
  });

  it('with another client that succeeds leaves those of the first one to be renewed and ended', async () => {
    const user = userOf('other');
    const { clientId } = await preRegistered('other');
    await user.login();
    const login = begin(user, `${served.url}/rest`, '--client-id', clientId);
    expect(await goOn(login), login.written.stderr).toBe(exitCodes.ok);
    await age(user);
    await user.answerOf('whoami');
    const logout = await runGatehouse(['logout', served.mcpUrl], { env: user.env });
    expect(logout.stderr).toBe(`Logged out of ${served.mcpUrl}\n`);
  });
});

/** A public client that the operator registered. */
async function preRegistered(name: string): Promise<{ clientId: string }> {
  const { code, stdout, stderr } = await runGatehouse([
    ...['client', 'add', name, '--redirect-uri', 'http://127.0.0.1/callback', '--auth-method', 'none'],
    ...['--json', '--data', served.folder, '--config', join(served.folder, 'gatehouse.json')],
  ]);
  expect(code, stderr).toBe(exitCodes.ok);
  return { clientId: (JSON.parse(stdout) as { clientId: string }).clientId };
}
