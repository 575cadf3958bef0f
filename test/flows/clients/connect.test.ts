import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostV1, hostV2 } from '../../client/node/bridge/support/sdk-hosts.ts';
import { type BrowserStub, createBrowserStub } from '../../support/browser-stub.ts';
import { createConformanceServer } from '../../support/conformance-server/server.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { decide } from '../../support/person.ts';
import { runProgram } from '../../support/program.ts';
import { commandLine } from '../../support/served.ts';
import { commandLineUser } from './support/command-line-user.ts';

const server = {
  name: 'Asking server',
  scopes: { 'tools:use': 'Use its tools.' },
  create: createConformanceServer,
};

let gatehouse: RunningGatehouse;
let folder: string;
let browser: BrowserStub;
const homeOf = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-connect-'));
  browser = await createBrowserStub(folder);
  gatehouse = await startGatehouse({ server, folder: join(folder, 'data') });
  const { code, stderr } = await commandLineUser(gatehouse.mcpUrl, homeOf('ada')).login();
  expect(code, stderr).toBe(0);
});
afterAll(async () => {
  await gatehouse?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** How a host starts the bridge. */
function command(home: string, options: string[] = []) {
  return {
    ...nodeProgram(commandLine, 'connect', gatehouse.mcpUrl, ...options),
    env: { PATH: process.env.PATH ?? '', GATEHOUSE_HOME: homeOf(home), BROWSER: browser.program },
    stderr: 'pipe' as const,
  };
}

const textOf = (result: object) => (result as { content: { text: string }[] }).content[0]?.text ?? '';

describe('gatehouse connect', { timeout: 60_000 }, () => {
  it('serves a host with SDK v1 from a protected server, which asks its model and its person', async () => {
    const host = hostV1();
    await host.connect(new StdioClientTransportV1(command('ada')));
    const asked = { name: 'test_elicitation', arguments: { message: 'Who?' } };
    expect(textOf(await host.callTool(asked))).toContain('Ada');
    const thought = { name: 'test_sampling', arguments: { prompt: 'Think' } };
    expect(textOf(await host.callTool(thought))).toContain('thought');
    await host.close();
  });

  it('serves a host with SDK v2 in 2026-07-28 the same', async () => {
    const host = hostV2();
    await host.connect(new StdioClientTransport(command('ada')));
    expect(host.getProtocolEra()).toBe('modern');
    const asked = { name: 'test_input_required_result_elicitation', arguments: {} };
    expect(textOf(await host.callTool(asked))).toBe('Hello, Ada!');
    const thought = { name: 'test_input_required_result_sampling', arguments: {} };
    expect(textOf(await host.callTool(thought))).toContain('thought');
    await host.close();
  });

  it('goes on after the server has started anew, without the host noticing (B3-11)', async () => {
    const host = hostV1();
    await host.connect(new StdioClientTransportV1(command('ada')));
    const { port } = new URL(gatehouse.listensAt);
    await gatehouse.stop();
    const call = host.callTool({ name: 'test_simple_text' });
    gatehouse = await startGatehouse({ server, folder: join(folder, 'data'), port: Number(port) });
    expect(textOf(await call)).toContain('text');
    await host.close();
  });

  it('logs in by the browser where there is no login, and tells the host nothing of it', async () => {
    const host = hostV1();
    const connected = host.connect(new StdioClientTransportV1(command('new')));
    connected.catch(() => undefined);
    await fetch(await decide(await browser.opened()));
    await connected;
    expect((await host.listTools()).tools.length).toBeGreaterThan(0);
    await host.close();
  });

  it('with --no-login says how to log in, and asks nobody', async () => {
    const host = hostV1();
    await expect(host.connect(new StdioClientTransportV1(command('nobody', ['--no-login'])))).rejects.toThrow(
      /not logged in.*login http/,
    );
    await host.close();
  });

  it.each(['SIGTERM', 'stdin'] as const)(
    'ends by %s, and writes nothing but messages (B1-03)',
    async (how) => {
      const { env, args } = command('ada', ['--trace']);
      const [file = '', ...rest] = args;
      const bridge = runProgram(file, rest, { env });
      const initialize = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
      };
      bridge.process.stdin?.write(`${JSON.stringify(initialize)}\n`);
      await bridge.waitFor('stdout', /\n/);
      if (how === 'stdin') bridge.process.stdin?.end();
      else bridge.process.kill(how);
      expect(await bridge.ended).toBe(0);
      const lines = bridge.written.stdout.trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1]);
      expect(bridge.written.stderr).toContain('curl');
    },
  );
});
