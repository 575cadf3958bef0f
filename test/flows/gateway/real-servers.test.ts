// MCP servers of others behind `gatehouse protect`, as people use them; README.md says what was seen with each.
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBrowserStub } from '../../support/browser-stub.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { decide } from '../../support/person.ts';
import { grace } from '../../support/served.ts';
import { startBridge } from '../clients/support/bridge.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { installPackages } from '../peers/support/installation.ts';
import { type Protected, protect } from './support/protected.ts';
import { type Caller, type RealServer, realServers, serversFolder } from './support/real-servers.ts';

const scopes = ['mcp'];
const parent = testFolderForFile();
beforeAll(() => installPackages(serversFolder), 180_000);

async function started(name: string, { file, start }: RealServer, folder: string): Promise<Protected> {
  await mkdir(folder);
  const { args, env = {} } = start(folder);
  const gate = await protect({
    options: ['--name', name, ...Object.keys(env).flatMap((variable) => ['--env', variable])],
    command: [process.execPath, join(serversFolder, 'node_modules', file), ...args],
    env: { ...env, CANARY: 'of the gatehouse' },
  });
  onTestFinished(() => gate.stop());
  return gate;
}

/** Logs in as a desktop host does, whose bridge opens a browser. */
async function connectBridge(
  mcpUrl: string,
  folder: string,
): Promise<{ client: Caller & { close(): Promise<void> } }> {
  const browser = await createBrowserStub(folder);
  const { client, connect, said } = startBridge(mcpUrl, folder, browser);
  const connected = connect();
  connected.catch(() => undefined);
  const page = await fetch(await decide(await browser.opened(), { scopes }));
  expect(page.status, said()).toBe(200);
  await connected;
  return { client };
}

describe.each(Object.entries<RealServer>(realServers))('%s behind gatehouse protect', (name, server) => {
  it('is used at once by two people, with the clients of both SDKs and with mcp-remote, and leaves no process (T-158, T-155)', async () => {
    const folder = join(parent, name);
    const gate = await started(name, server, folder);
    await gate.addAccount(grace);
    const clients = await Promise.all([
      connectSdkV1(gate.mcpUrl, { scopes }),
      connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes, person: grace }),
      connectBridge(gate.mcpUrl, join(parent, `${name}-bridge`)),
    ]);
    await Promise.all(
      clients.map(async ({ client }, at) => {
        const caller: Caller = client;
        const names = (await caller.listTools()).tools.map((tool) => tool.name);
        expect(names).toEqual(expect.arrayContaining(server.tools));
        await server.use(caller, `mark-${at}`, folder);
      }),
    );
    await Promise.all(clients.map(({ client }) => client.close()));
    gate.program.process.kill('SIGTERM');
    expect(await gate.program.ended).toBe(0);
    if (existsSync('/proc/self/environ'))
      await vi.waitFor(() => expect(gate.processes()).toEqual([]), { timeout: 3000, interval: 50 });
  }, 90_000);
});
