import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../../client/support/folder.ts';
import { initialize, modern } from '../../../mcp/stdio/connected-host.ts';
import { call, rpc } from '../../../mcp/support/served-transport.ts';
import { earlierDataFolder } from '../../../storage/sqlite/earlier-database.ts';
import { nodeProgram } from '../../../support/node-program.ts';
import { type Program, runProgram } from '../../../support/program.ts';
import { commandLine } from '../../../support/served.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';

const file = commandLine;

function start(
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Program {
  const program = runProgram(file, ['stdio', ...args], options);
  onTestFinished(() => program.stop());
  return program;
}

const lines = (...messages: unknown[]): string =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');

function heard({ written }: Program): Record<string, unknown>[] {
  return written.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('gatehouse stdio', () => {
  it('serves the SDK’s clients of both versions, on the notes of the account (B1-02, B1-03)', async () => {
    const data = await newInstallation();
    const command = {
      ...nodeProgram(file, 'stdio', '--data', data),
      stderr: 'pipe' as const,
    };
    const v1 = new ClientV1({ name: 'v1', version: '1' });
    await v1.connect(new TransportV1(command));
    const v2 = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await v2.connect(new TransportV2(command));
    onTestFinished(() => Promise.all([v1.close(), v2.close()]).then(() => undefined));

    await v1.callTool({ name: 'add_note', arguments: { text: 'from version 1' } });
    const found = await v2.callTool({ name: 'search_notes', arguments: { query: 'version' } });
    expect(found.structuredContent).toMatchObject({ notes: [{ text: 'from version 1' }] });
    const [account] = await withInstallation(data, ({ storage }) => storage.accounts.list());
    for (const client of [v1, v2]) {
      const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} });
      expect(structuredContent).toMatchObject({
        account: account?.id,
        email: account?.email,
        client: 'stdio',
      });
    }
  });

  it('answers raw lines of every era, and writes nothing else to standard output (A12-10, B1-01, B1-03, T-150)', async () => {
    const data = await newInstallation();
    const config = join(testFolder(), 'gatehouse.json');
    writeFileSync(config, JSON.stringify({ data, log: { level: 'debug' } }));
    const older = start(['--config', config], {
      input: lines(initialize('2025-03-26'), 'no message', [rpc(1, 'ping'), call('2', 'whoami')]),
    });
    const newer = start(['--config', config], { input: lines(modern(1, 'tools/list')) });
    expect(await Promise.all([older.ended, newer.ended])).toEqual([0, 0]);
    expect(heard(older)).toMatchObject([
      { id: 0, result: { protocolVersion: '2025-03-26' } },
      { id: null, error: { code: -32600 } },
      [
        { id: 1, result: {} },
        { id: '2', result: { structuredContent: { client: 'stdio' } } },
      ],
    ]);
    expect(heard(newer)).toMatchObject([{ id: 1, result: { resultType: 'complete' } }]);
  });

  it('says on standard error alone that it brings a database of an earlier version up, and serves (T-174)', async () => {
    const program = start(['--data', await earlierDataFolder()], {
      input: lines(initialize('2025-11-25'), rpc(1, 'ping')),
    });
    expect(await program.ended).toBe(0);
    expect(program.written.stderr).toMatch(
      /^The database is of an earlier version\. It is upgraded from schema 11 to \d+; .*\n$/,
    );
    expect(heard(program)).toMatchObject([
      { id: 0, result: {} },
      { id: 1, result: {} },
    ]);
  });

  it('waits for another process that brings a database up for as long as that takes, and says so (T-174)', async () => {
    const data = await earlierDataFolder();
    const holder = runProgram('test/storage/sqlite/hold-alone.ts', [join(data, 'gatehouse.db'), '60000']);
    onTestFinished(() => holder.stop());
    await holder.waitFor('stdout', /held/);
    const both = Array.from({ length: 2 }, () => start(['--data', data]));
    for (const program of both) {
      await program.waitFor('stderr', /^Another process has locked the database, .* Waiting for it\.\n/);
      program.process.stdin?.write(lines(initialize('2025-11-25')));
    }
    // Longer than SQLite itself waits while a database is opened.
    await pause(5_500);
    holder.process.stdin?.write('let go\n');
    expect(await holder.ended).toBe(0);
    for (const program of both) {
      await program.waitFor('stdout', /"id":0,/);
      expect(heard(program)).toMatchObject([{ id: 0, result: { protocolVersion: '2025-11-25' } }]);
      program.process.stdin?.end();
    }
    expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
  });

  it('ends within two seconds of the end of its input, of its reader, or of a signal (B1-05, T-150)', async () => {
    const data = await newInstallation();
    const endings: ((program: Program) => unknown)[] = [
      ({ process: child }) => child.stdin?.end(),
      ({ process: child }) => child.kill('SIGTERM'),
      ({ process: child }) => child.kill('SIGINT'),
      ({ process: child }) => {
        child.stdout?.destroy();
        child.stdin?.write(lines(rpc(2, 'tools/list'), rpc(3, 'tools/list')));
      },
    ];
    await Promise.all(
      endings.map(async (end) => {
        const program = start(['--data', data]);
        program.process.stdin?.write(lines(initialize()));
        await program.waitFor('stdout', /\n/);
        const begun = performance.now();
        end(program);
        expect(await program.ended).toBe(0);
        expect(performance.now() - begun).toBeLessThan(2000);
        expect(program.written.stderr).not.toContain('Error');
      }),
    );
  });

  it.skipIf(!existsSync('/proc/self/status'))(
    'keeps its memory flat while a host writes a line of 400 MB (T-150)',
    async () => {
      const data = await newInstallation();
      const program = start(['--data', data]);
      const { stdin, pid } = program.process;
      if (!stdin) throw new Error('The program has standard input.');
      const peakMegabytes = (): number =>
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
      stdin.write(lines(initialize()));
      await program.waitFor('stdout', /"id":0/);
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      const writeMegabytes = async (count: number): Promise<number> => {
        for (let written = 0; written < count; written++)
          if (!stdin.write(chunk)) await new Promise((resolve) => stdin.once('drain', resolve));
        return peakMegabytes();
      };
      // What Node reads is garbage until it is collected, so that the first megabytes show in the peak, and no later ones.
      const after100 = await writeMegabytes(100);
      const after400 = await writeMegabytes(300);
      expect(after400 - after100).toBeLessThan(64);
      stdin.write(`\n${lines(rpc(1, 'ping'))}`);
      await program.waitFor('stdout', /"id":1,|"id":1}/);
      expect(heard(program)).toMatchObject([
        { id: 0 },
        { id: null, error: { code: -32000 } },
        { id: 1, result: {} },
      ]);
    },
  );

  it('acts for the account that is named, in an option or in the environment', async () => {
    const data = await newInstallation();
    const grace = await withInstallation(data, ({ administration }) =>
      administration.accounts.add('grace@example.com', 'correct horse battery staple'),
    );
    const input = lines(initialize(), call(1, 'whoami'));
    const option = start(['--data', data, '--account', 'Grace@example.com'], { input });
    const environment = start(['--data', data], { input, env: { GATEHOUSE_ACCOUNT: 'grace@example.com' } });
    const neither = start(['--data', data], { input });
    expect(await Promise.all([option.ended, environment.ended, neither.ended])).toEqual([0, 0, 2]);
    for (const program of [option, environment])
      expect(heard(program)[1]).toMatchObject({ result: { structuredContent: { account: grace.id } } });
    expect(neither.written).toEqual({ stdout: '', stderr: expect.stringContaining('There are 2 accounts.') });
  });

  it('makes no data folder, and says that there is none', async () => {
    const program = start(['--data', join(testFolder(), 'data')], { input: '' });
    expect(await program.ended).toBe(7);
    expect(program.written.stderr).toMatch(/^There is no Gatehouse database .*\n.*--data or --config/);
  });

  it('serves no routes: it says how a host reaches them, rather than notes in their place', async () => {
    const config = join(testFolder(), 'gatehouse.json');
    const routes = {
      files: { path: '/team', backend: { command: 'a' } },
      more: { backend: { command: 'b' } },
    };
    const mcpServers = { Hosted: { command: 'c' } };
    const settings = { publicUrl: 'https://mcp.example.com', routes, mcpServers };
    writeFileSync(config, JSON.stringify({ ...settings, data: await newInstallation() }));
    const program = start(['--config', config], { input: lines(initialize()) });
    expect(await program.ended).toBe(2);
    expect(program.written.stdout).toBe('');
    expect(program.written.stderr).toMatch(
      / stdio cannot serve routes \(files, more, hosted\)\..*\n.* connect https:\/\/mcp\.example\.com\/team\/mcp\n$/,
    );
  });

  it('explains itself', async () => {
    const program = start(['--help'], { input: '' });
    await program.ended;
    expect(program.written.stdout).toMatch(/--account <email>[\s\S]*--data[\s\S]*--config[\s\S]*Example:/);
  });
});
