// Flows through src/cli/commands/server/protect.ts and src/cli/commands/server/protect.ts: the file of a desktop host, served as it is.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { registerProtect } from '../../../src/cli/commands/server/protect.ts';
import { runCommands } from '../../../src/cli/run-commands.ts';
import { testIo } from '../../cli/support/client-commands.ts';
import { ada } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens, tryAccess } from '../../support/oauth.ts';
import { type Program, repository, runProgram } from '../../support/program.ts';
import { commandLine, runGatehouse } from '../../support/served.ts';
import { placeOf } from '../../support/test-storage.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { serveStreamable } from './support/elsewhere.ts';

const backend = join(repository, 'test/support/backend/server.ts');
const placeholder = ['$', '{HOME}/$USER/%PATH%'].join('');

function said(result: unknown): Record<string, unknown> {
  return JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? '');
}

/** Runs `gatehouse protect` on a free port; gives the program, and where its servers are. */
async function protect(...args: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-import-'));
  const program: Program = runProgram(
    commandLine,
    ['protect', '--port', '0', '--json', ...(await placeOf(folder)), ...args],
    {
      input: '',
      env: {
        GATEHOUSE_ACCOUNT_EMAIL: ada.email,
        GATEHOUSE_ACCOUNT_PASSWORD: ada.password,
      },
    },
  );
  const [json] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  const { servers } = JSON.parse(json) as { servers: { name: string; mcpUrl: string }[] };
  return {
    program,
    servers,
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe('gatehouse protect --import', () => {
  let folder: string;
  let gate: Awaited<ReturnType<typeof protect>>;
  const secret = 'canary-4711-of-the-host';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-host-'));
    const file = join(folder, 'mcp.json');
    const server = (mark: string) => ({
      ...nodeProgram(backend, 'sound', mark),
      env: { API_TOKEN: secret, MODE: placeholder },
    });
    await writeFile(
      file,
      JSON.stringify({ mcpServers: { 'My Files': server(placeholder), other: server('o') } }),
    );
    gate = await protect('--import', file);
  });
  afterAll(async () => {
    await gate.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('serves every server of the file at a path of its own, each with its own login', async () => {
    expect(gate.servers.map(({ name, mcpUrl }) => [name, new URL(mcpUrl).pathname])).toEqual([
      ['My Files', '/my-files/mcp'],
      ['other', '/other/mcp'],
    ]);
    const [files, other] = gate.servers.map(({ mcpUrl }) => mcpUrl) as [string, string];
    const url = new URL(files).origin;
    const { tokens } = await obtainTokens({ url, mcpUrl: files }, { scope: 'mcp', scopes: ['mcp'] });
    expect(await tryAccess(files, tokens.access_token)).toBe(200);
    expect(await tryAccess(other, tokens.access_token)).toBe(401);
  });

  it('gives programs arguments and variables as they stand there, expands nothing, and logs no value (T-152, T-153, T-194)', async () => {
    const mcpUrl = gate.servers[0]?.mcpUrl ?? '';
    const { client } = await connectSdkV2(mcpUrl, 'auto', { scopes: ['mcp'] });
    const { env, args } = said(await client.callTool({ name: 'surroundings', arguments: {} })) as {
      env: Record<string, string>;
      args: string[];
    };
    expect(args).toEqual(['sound', placeholder]);
    expect(env).toMatchObject({ API_TOKEN: secret, MODE: placeholder });
    await client.callTool({ name: 'mutter', arguments: { text: `my token is ${secret}` } });
    await gate.program.waitFor('stderr', /my token is/);
    const { stderr, stdout } = gate.program.written;
    expect(stderr + stdout).not.toContain(secret);
    expect(stderr).toContain('routes.my-files.backend.env.MODE: contains a placeholder');
    await client.close();
  });

  it('is examined by gatehouse doctor at each path without a finding', async () => {
    for (const { mcpUrl } of gate.servers) {
      const { code, stdout } = await runGatehouse(['doctor', '--json', mcpUrl]);
      const { findings } = JSON.parse(stdout) as { findings: { id: string; verdict: string }[] };
      expect(findings.length).toBeGreaterThan(20);
      expect(findings.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')).toEqual([]);
      expect(code).toBe(0);
    }
  }, 120_000);
});

describe('gatehouse protect', () => {
  it('with a URL puts the server there behind login, at /mcp', async () => {
    const elsewhere = await serveStreamable();
    onTestFinished(() => elsewhere.stop());
    const gate = await protect('--name', 'Far away', elsewhere.url);
    onTestFinished(() => gate.stop());
    const [server] = gate.servers;
    expect(server).toMatchObject({ name: 'Far away' });
    expect(new URL(server?.mcpUrl ?? '').pathname).toBe('/mcp');
    const { client } = await connectSdkV2(server?.mcpUrl ?? '', 'auto', { scopes: ['mcp'] });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    await client.close();
  });

  it.each([
    [[], 'Say what to protect'],
    [['--import', '/nowhere.json', '--', 'program'], '--import and program cannot be combined'],
    [['--', 'no-such-program', 'x'], 'no-such-program: there is no program of that name in PATH'],
    [['/nowhere/program'], '/nowhere/program: there is no program that can be run at this path.'],
    [['localhost:4801/mcp'], 'Did you mean http://localhost:4801/mcp?'],
    [['npx -y some-server'], 'protect -- npx -y some-server'],
    [['http://user@localhost/mcp'], '- the URL: must be an absolute http or https URL'],
    [['--import', '/nowhere.json'], '/nowhere.json: there is no such file'],
    [['--env', 'HOME', 'https://a.example/mcp'], 'are for a command'],
    [['https://a.example/mcp', 'more'], 'A URL takes no arguments, such as more: only a program does.'],
  ])('says what is missing or wrong for %j', async (args, sentence) => {
    const { io, written } = testIo();
    const argv = ['node', 'gatehouse', 'protect', ...args];
    expect(await runCommands(new Command().exitOverride(), [registerProtect], argv, io)).toBe(2);
    expect(written.stderr).toContain(sentence);
  });

  it('says that a program that has options comes after --', async () => {
    const { code, stderr } = await runGatehouse(['protect', 'npx', '-y', 'some-server']);
    expect(code).toBe(2);
    expect(stderr).toContain('Put a program that has options after --.');
  });

  it('beside a config file whose server is at the same path names that one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-import-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const config = join(folder, 'gatehouse.json');
    await writeFile(config, JSON.stringify({ routes: { notes: { path: '/', backend: { command: 'a' } } } }));
    const { code, stderr } = await runGatehouse(['protect', '--config', config, '--', 'true']);
    expect(code).toBe(2);
    expect(stderr).toContain('- routes.notes.path: gatehouse protect uses the path / itself');
  });

  it('calls what nobody gave a name by the host of its URL', async () => {
    const gate = await protect('http://127.0.0.1:9/mcp');
    onTestFinished(() => gate.stop());
    expect(gate.servers).toMatchObject([{ name: '127.0.0.1:9' }]);
  });
});
