// MCP servers of others behind the gate, as people use them; README.md says what was seen with each.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { createBrowserStub } from '../../support/browser-stub.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { decide } from '../../support/person.ts';
import { processesWith } from '../../support/processes.ts';
import { runProgram } from '../../support/program.ts';
import { grace } from '../../support/served.ts';
import { bringAnswer, startBridge } from '../clients/support/bridge.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { installPackages } from '../peers/support/installation.ts';
import {
  type Caller,
  realHttpServers,
  realServers,
  serversFolder,
  type Usage,
} from './support/real-servers.ts';

const scopes = ['mcp'];
const parent = testFolderForFile();
beforeAll(() => installPackages(serversFolder), 180_000);

/**
 * Without GATEHOUSE_TEST_LONG, as in continuous integration, some of each kind are used, and mcp-remote with one server
 * of a kind, as it takes longest to start.
 */
const isLong = process.env.GATEHOUSE_TEST_LONG !== undefined;
const some = new Set([
  'everything',
  'filesystem',
  'memory',
  'sequential-thinking',
  'everything, Streamable HTTP',
  'everything, HTTP+SSE',
  'mcp-proxy before memory',
]);
const chosen = <Server>(servers: Record<string, Server>): [string, Server][] =>
  Object.entries(servers).filter(([name]) => isLong || some.has(name));

interface Connected {
  client: Caller & { close(): Promise<void> };
}

/** Logs in as a desktop host does, whose bridge opens a browser. */
async function connectBridge(mcpUrl: string, folder: string): Promise<Connected> {
  const browser = await createBrowserStub(folder);
  const { client, connect, said } = startBridge(mcpUrl, folder, browser);
  const connected = connect();
  connected.catch(() => undefined);
  const page = await bringAnswer(await decide(await browser.opened(), { scopes }));
  expect(page.status, said()).toBe(200);
  await connected;
  return { client };
}

/** Has two people with their clients log in, and use a server at once. */
async function useAtOnce(
  backend: NonNullable<GatehouseOptions['backend']>,
  { tools, use, isUsedInTurn }: Usage,
  folder: string,
  withBridge: boolean,
): Promise<void> {
  const gate = await startGatehouse({ backend });
  await gate.administration.accounts.add(grace.email, grace.password);
  const { mcpUrl } = gate;
  const clients: Connected[] = await Promise.all([
    connectSdkV1(mcpUrl, { scopes }),
    connectSdkV2(mcpUrl, { pin: '2026-07-28' }, { scopes, person: grace }),
    ...(withBridge ? [connectBridge(mcpUrl, `${folder}-bridge`)] : []),
  ]);
  const useAs = async ({ client }: Connected, at: number): Promise<void> => {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(tools));
    await use(client, `mark-${at}`, folder);
  };
  if (isUsedInTurn) for (const [at, connected] of clients.entries()) await useAs(connected, at);
  else await Promise.all(clients.map(useAs));
  await Promise.all(clients.map(({ client }) => client.close()));
  await gate.stop();
}

/** Waits until something listens. */
async function listening(port: number): Promise<void> {
  await vi.waitFor(
    () =>
      new Promise<void>((resolve, reject) => {
        const socket = connect(port, 'localhost', () => {
          socket.destroy();
          resolve();
        }).once('error', reject);
      }),
    { timeout: 20_000, interval: 50 },
  );
}

describe('a program of somebody else behind the gate', () => {
  it.each(chosen(realServers))(
    '%s is used by two people at once, with the clients of both SDKs and with mcp-remote, and leaves no process (T-158, T-155)',
    async (name, server) => {
      const folder = join(parent, name);
      await mkdir(folder);
      const { file, args, env = {} } = server.start(folder);
      const mark = randomUUID();
      await useAtOnce(
        {
          name,
          command: process.execPath,
          args: [join(serversFolder, 'node_modules', file), ...args],
          env: { ...env, BACKEND_MARK: mark },
        },
        server,
        folder,
        isLong || name === 'everything',
      );
      if (!existsSync('/proc/self/environ')) return;
      const left = (): number[] => processesWith('BACKEND_MARK', mark);
      await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 4000, interval: 50 });
    },
    90_000,
  );
});

describe('a server of somebody else that is reached by URL, behind the gate', () => {
  it.each(chosen(realHttpServers))(
    '%s is used by two people at once, with the clients of both SDKs and with mcp-remote (B7-16, T-158)',
    async (name, server) => {
      const folder = join(parent, name.replaceAll(/\W+/g, '-'));
      await mkdir(folder);
      const port = await freePort();
      const { file, args, env = {}, path } = server.start(folder, port);
      const program = runProgram(join(serversFolder, 'node_modules', file), args, { env });
      onTestFinished(() => program.stop());
      await listening(port);
      // Playwright's server answers at no other name.
      const url = `http://localhost:${port}${path}`;
      await useAtOnce({ name, url }, server, folder, isLong || name === 'everything, HTTP+SSE');
    },
    90_000,
  );
});
