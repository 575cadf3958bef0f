import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../support/program.ts';
import { commandLine, runGatehouse, type Served, serveGatehouse } from '../../support/served.ts';
import { createVisitor } from '../../support/visitor.ts';
import { approveDevice } from '../device/subject.ts';

let served: Served;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'gatehouse-device-'));
  served = await serveGatehouse([], { tokens: { accessTokenSeconds: 10 } });
});
afterAll(async () => {
  await served.stop();
  await rm(home, { recursive: true, force: true });
});

describe('gatehouse login --device', () => {
  it('logs in at a Gatehouse with the code it prints, calls a tool, and refreshes', async () => {
    const env = { GATEHOUSE_HOME: home };
    const login = runProgram(commandLine, ['login', served.mcpUrl, '--device', '--json'], { env, input: '' });
    const [, url = ''] = await login.waitFor('stderr', /^Open this URL on any device: (\S+)$/m);
    const [, userCode = ''] = await login.waitFor('stderr', /^Enter this code there: (\S+)$/m);
    await login.waitFor('stderr', /^Or open the URL with the code: \S+\?user_code=[A-Z]{4}-[A-Z]{4}$/m);
    const done = await approveDevice({ url, userCode }, createVisitor());
    expect(done.url).toBe(`${served.url}/device/done`);
    expect(await login.ended, login.written.stderr).toBe(0);
    expect(JSON.parse(login.written.stdout)).toMatchObject({ server: served.mcpUrl, issuer: served.url });

    const whoami = async () => {
      const called = await runGatehouse(['call', served.mcpUrl, 'whoami', '--json'], { env });
      expect(called.code, called.stderr).toBe(0);
      return (JSON.parse(called.stdout) as { structuredContent: { scopes: string[] } }).structuredContent;
    };
    expect((await whoami()).scopes).toEqual(['notes:read', 'notes:write']);
    const tokenOf = async () => (await runGatehouse(['token', served.mcpUrl], { env })).stdout.trim();
    const first = await tokenOf();
    expect(first).toMatch(/^[\w-]{20,}$/);
    await expect.poll(tokenOf, { timeout: 25_000, interval: 1000 }).not.toBe(first);
    expect((await whoami()).scopes).toEqual(['notes:read', 'notes:write']);
  });
});
