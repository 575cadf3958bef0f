import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { startAuthorizationServer, startMcpServer } from '../../client/support/protected-server.ts';
import { createVictim } from './support/victim.ts';

async function setUp() {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as);
  return { as, mcp, victim: await createVictim() };
}

it('no secret of a login stands in the arguments of a process or in a trace (T-191)', async () => {
  const { as, mcp, victim } = await setUp();
  const secret = 'secret-of-the-client';
  const args = ['login', mcp.url, '--no-browser', '--trace', '--client-id', 'mine', '--client-secret-stdin'];
  const login = victim.start(...args);
  login.process.stdin?.end(secret);
  const [, url = ''] = await login.waitFor('stderr', /^Open this URL: (\S+)$/m);
  const commandLine =
    process.platform === 'linux' ? readFileSync(`/proc/${login.process.pid}/cmdline`, 'utf8') : '';
  const { headers } = await fetch(url, { redirect: 'manual' });
  const answer = headers.get('location') ?? '';
  await fetch(answer);
  expect(await login.ended, login.written.stderr).toBe(exitCodes.ok);
  const first = [...as.accessTokens, ...as.refreshTokens];

  as.accessTokens.clear();
  const tools = await victim.run('tools', mcp.url, '--trace');
  expect(tools.code, tools.stderr).toBe(exitCodes.ok);
  const second = [...as.accessTokens, ...as.refreshTokens];
  const logout = await victim.run('logout', mcp.url, '--trace');
  expect(logout.code, logout.stderr).toBe(exitCodes.ok);

  const redeemed = as.requests.find(({ path }) => path === '/token')?.body;
  const secrets = [
    secret,
    Buffer.from(`mine:${secret}`).toString('base64'),
    new URL(answer).searchParams.get('code') ?? '',
    new URLSearchParams(redeemed).get('code_verifier') ?? '',
    ...first,
    ...second,
  ];
  expect(secrets.filter((one) => one.length < 10)).toEqual([]);
  const shown = [
    commandLine,
    ...[login.written, tools, logout].flatMap(({ stdout, stderr }) => [stdout, stderr]),
  ].join('\n');
  expect(shown).toContain('/token');
  expect(secrets.filter((one) => shown.includes(one))).toEqual([]);
});

it.skipIf(process.platform === 'win32')(
  'the file of the logins is not followed elsewhere, read while others can, or taken for empty (T-188)',
  async () => {
    const { as, mcp, victim } = await setUp();
    mkdirSync(victim.home, { mode: 0o700 });
    const file = join(victim.home, 'tokens.json');
    const precious = join(victim.home, 'precious');
    writeFileSync(precious, 'precious');
    symlinkSync(precious, `${file}.new`);
    expect((await victim.login(mcp.url)).code).toBe(exitCodes.ok);
    expect(readFileSync(precious, 'utf8')).toBe('precious');

    chmodSync(file, 0o644);
    const open = await victim.run('tools', mcp.url);
    expect(open.code).toBe(exitCodes.cannotServe);
    expect(open.stderr).toContain('chmod 600');
    chmodSync(file, 0o600);
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, 100));
    const damaged = await victim.run('whoami');
    expect(damaged.code).toBe(exitCodes.cannotServe);
    expect(damaged.stderr).toMatch(/is damaged\. Move it away/);
    expect([...as.refreshTokens].filter((token) => damaged.stderr.includes(token))).toEqual([]);
  },
);
