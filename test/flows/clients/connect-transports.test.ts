import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostV1 } from '../../client/node/bridge/support/sdk-hosts.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { commandLine, runGatehouse, type Served, serveGatehouse } from '../../support/served.ts';
import { placeOf } from '../../support/test-storage.ts';
import { commandLineUser } from './support/command-line-user.ts';

let served: Served;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-transports-'));
  served = await serveGatehouse();
});
afterAll(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the command line and its bridge', () => {
  it('find the old HTTP+SSE behind a login, the token on both of its URLs (B2-02, B6-01)', async () => {
    const url = `${served.url}/sse`;
    const user = commandLineUser(url, join(folder, 'sse'));
    const { code, stderr } = await user.login();
    expect(code, stderr).toBe(0);
    expect(await user.answerOf('whoami')).toMatchObject({ scopes: ['notes:read', 'notes:write'] });

    const host = hostV1();
    const bridge = nodeProgram(commandLine, 'connect', url);
    await host.connect(new StdioClientTransport({ ...bridge, env: user.env }));
    const { structuredContent } = await host.callTool({ name: 'whoami' });
    expect(structuredContent).toMatchObject({ scopes: ['notes:read', 'notes:write'] });
    await host.close();
  });

  it('speak Rest, and stdio to a program, where they are told to', async () => {
    const url = `${served.url}/rest`;
    const user = commandLineUser(url, join(folder, 'rest'));
    expect((await user.login()).code).toBe(0);
    const rest = await runGatehouse(['call', url, 'whoami', '--transport', 'rest', '--json'], {
      env: user.env,
    });
    expect(rest.code, rest.stderr).toBe(0);
    expect(JSON.parse(rest.stdout)).toMatchObject({ structuredContent: { scopes: expect.any(Array) } });

    const program = `${process.execPath} ${commandLine} stdio ${(await placeOf(served.folder)).map((word) => `'${word}'`).join(' ')}`;
    const local = await runGatehouse(['tools', program, '--transport', 'stdio', '--json'], {
      env: user.env,
    });
    expect(local.code, local.stderr).toBe(0);
    expect(JSON.parse(local.stdout)).toMatchObject({ tools: expect.any(Array) });
  });
});
