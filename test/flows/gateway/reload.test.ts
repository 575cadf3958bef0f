// Flows through src/cli/control/take-controls.ts, src/cli/control/control-server.ts, src/cli/control/ask-servers.ts,
// src/cli/commands/server/routes.ts, src/cli/commands/server/reload.ts, src/cli/commands/server/reload.ts, src/composition/served-routes.ts,
// src/composition/served-routes.ts and src/composition/served-routes.ts: a server whose config file changes.
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ada } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { commandLine, runGatehouse } from '../../support/served.ts';
import { storageSettings } from '../../support/test-storage.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { nodePort } from '../token/subject.ts';

const scopes = ['mcp'];
const route = (mark: string) => ({
  backend: nodeProgram('test/support/backend/server.ts', 'sound', mark),
});

function said(result: unknown): Record<string, unknown> {
  return JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? '');
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

let folder: string;
let config: string;
let program: Program;
let url: string;

/** Writes the config file as an editor does: a new file in the place of the old one. */
async function write(settings: object | string): Promise<void> {
  const draft = join(folder, 'draft.json');
  const text =
    typeof settings === 'string'
      ? settings
      : JSON.stringify({ ...nodePort, ...settings, ...(await storageSettings(folder)) });
  await writeFile(draft, text);
  await rename(draft, config);
}

async function command(...args: string[]) {
  return runGatehouse([...args, '--config', config, '--data', folder]);
}

const reloads = () =>
  program.written.stderr.split('\n').filter((line) => line.includes('the settings were reloaded"')).length;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-reload-'));
  config = join(folder, 'gatehouse.json');
  await write({ routes: { notes: route('first'), files: route('files') } });
  program = runProgram(
    commandLine,
    ['serve', '--port', '0', '--json', '--data', folder, '--config', config],
    { input: '', env: { GATEHOUSE_ACCOUNT_EMAIL: ada.email, GATEHOUSE_ACCOUNT_PASSWORD: ada.password } },
  );
  const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  url = JSON.parse(text).publicUrl;
});
afterAll(async () => {
  await program.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a running server', () => {
  it('shows its operator how the routes stand: processes, sessions, calls', async () => {
    const { client } = await connectSdkV1(`${url}/notes/mcp`, { scopes });
    const over = new AbortController();
    const echo = { name: 'echo', arguments: { text: 'x', delayMs: 60_000 } };
    const running = client.callTool(echo, undefined, { signal: over.signal }).catch(() => undefined);
    const { stdout } = await command('routes', '--json');
    const shown = JSON.parse(stdout);
    expect(shown).toMatchObject([
      {
        route: 'notes',
        mcpUrl: `${url}/notes/mcp`,
        kind: 'stdio',
        state: 'running',
        processes: expect.any(Number),
        sessions: 1,
        calls: 1,
      },
      {
        route: 'files',
        kind: 'stdio',
        state: 'idle',
        processes: 0,
        sessions: 0,
        calls: 0,
        failures: { count: 0 },
      },
    ]);
    const table = (await command('routes')).stdout;
    expect(table.split('\n')[0]).toMatch(/^ROUTE +URL +KIND +STATE/);
    over.abort();
    await running;
    await client.callTool({ name: 'crash', arguments: {} }).catch(() => undefined);
    expect((await command('routes')).stdout).toMatch(/notes .* 1, last backend_ended at 20/);
    await client.close();
  });

  it('is reached by its own user alone (T-113)', async () => {
    const sockets = (await readdir(folder)).filter((name) => name.startsWith('control'));
    expect(sockets).toEqual([expect.stringMatching(/^control-\d+-[0-9a-f]+\.sock$/)]);
    const { mode } = await stat(join(folder, sockets[0] ?? ''));
    expect(mode & 0o777).toBe(0o600);
  });

  it('takes routes as its file changes; streams and calls of those that are as they were go on', async () => {
    const { client } = await connectSdkV1(`${url}/files/mcp`, { scopes });
    const { pid } = said(await client.callTool({ name: 'echo', arguments: { text: 'before' } }));
    const running = client.callTool({ name: 'echo', arguments: { text: 'over it', delayMs: 4000 } });
    const before = reloads();
    await write({ routes: { notes: route('second'), files: route('files'), more: route('more') } });
    await vi.waitFor(() => expect(reloads()).toBe(before + 1), { timeout: 10_000 });
    expect(said(await running)).toMatchObject({ said: 'over it', pid });
    expect(said(await client.callTool({ name: 'echo', arguments: { text: 'after' } }))).toMatchObject({
      pid,
    });

    for (const [path, mark] of [
      ['notes', 'second'],
      ['more', 'more'],
    ]) {
      const { client: other } = await connectSdkV1(`${url}/${path}/mcp`, { scopes });
      expect(said(await other.callTool({ name: 'surroundings', arguments: {} })).args).toEqual([
        'sound',
        mark,
      ]);
      await other.close();
    }
    await client.close();
  });

  it('lets a call at a route that is replaced end, and goes on with its session at the new server', async () => {
    const { client } = await connectSdkV1(`${url}/more/mcp`, { scopes });
    const { pid } = said(await client.callTool({ name: 'echo', arguments: { text: 'before' } }));
    const running = client.callTool({ name: 'echo', arguments: { text: 'to its end', delayMs: 6000 } });
    await pause(300);
    const before = reloads();
    await write({ routes: { notes: route('second'), files: route('files'), more: route('other') } });
    await vi.waitFor(() => expect(reloads()).toBe(before + 1), { timeout: 10_000 });
    expect(said(await running)).toMatchObject({ said: 'to its end' });
    expect(said(await client.callTool({ name: 'surroundings', arguments: {} })).args).toEqual([
      'sound',
      'other',
    ]);
    // The new server keeps the session after the old one has ended.
    await expect.poll(() => isRunning(Number(pid)), { timeout: 5_000 }).toBe(false);
    for (let call = 0; call < 5; call++)
      await client.callTool({ name: 'surroundings', arguments: {} }, undefined, { timeout: 5_000 });
    await client.close();
  });

  it('reads its file at SIGHUP, removes routes, and says which settings wait for a restart', async () => {
    const before = reloads();
    await write({ routes: { notes: route('second'), files: route('files') }, mcp: { maxSessions: 77 } });
    program.process.kill('SIGHUP');
    await vi.waitFor(() => expect(reloads()).toBeGreaterThan(before));
    expect((await fetch(`${url}/more/mcp`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${url}/notes/mcp`, { method: 'POST' })).status).toBe(401);
    const { stdout } = await command('reload');
    expect(stdout).toMatch(
      /^kept: notes, files\nneeds a restart: mcp\nalready reloaded \d+\.\d s ago \((?:SIGHUP|.* changed)\): removed more\n$/,
    );
    const json = JSON.parse((await command('reload', '--json')).stdout);
    expect(json).toMatchObject({ routes: { kept: ['notes', 'files'] }, needRestart: ['mcp'] });
    const audit = JSON.parse((await command('audit', 'list', '--event', 'routes.', '--json')).stdout);
    expect(audit.at(-1)).toMatchObject({ event: 'routes.replaced', details: { removed: 'more' } });
  });

  it('goes on as it is where the file cannot be used, and says every problem (T-179)', async () => {
    const good = await readFile(config, 'utf8');
    await write({ data: folder, routes: { notes: { backend: { comand: 'x' } } } });
    const { code, stderr } = await command('reload');
    expect(code).toBe(2);
    expect(stderr).toContain('Nothing has changed');
    expect(stderr).toContain('routes.notes.backend');
    // The config file says where the server is, faulty as it is.
    const named = ['--config', config];
    const json = await runGatehouse(['reload', '--json', ...named]);
    expect(json.code).toBe(2);
    expect(json.stderr).toContain('Nothing has changed');
    expect(JSON.parse(json.stdout).problems.join()).toContain('routes.notes.backend');
    expect((await runGatehouse(['routes', ...named])).stdout).toMatch(/^ROUTE[\s\S]*\nnotes /);
    expect((await runGatehouse(['account', 'list', ...named])).stdout).toContain(ada.email);
    await write('{ "routes": ');
    const unreadable = await runGatehouse(['reload', '--json', ...named]);
    expect(unreadable.code).toBe(2);
    expect(unreadable.stderr).toMatch(/^Nothing has changed: [\s\S]* is not valid JSON [\s\S]*--data\.\n$/);
    expect(JSON.parse(unreadable.stdout)).toEqual({
      problems: [expect.stringContaining('is not valid JSON')],
    });
    expect((await command('reload')).stderr).toContain('is not valid JSON');
    expect((await fetch(`${url}/files/mcp`, { method: 'POST' })).status).toBe(401);
    await write(good);
    expect((await command('reload')).code).toBe(0);
  });
});

describe('of several servers on one data folder', () => {
  it('each is asked, whichever started first, and one that was killed is not waited for', async () => {
    const start = async (file: string): Promise<Program> => {
      const args = ['serve', '--port', '0', '--json', '--data', folder, '--config', file];
      const server = runProgram(commandLine, args, { input: '' });
      await server.waitFor('stdout', /\{[\s\S]*\n\}/);
      return server;
    };
    const own = join(folder, 'own.json');
    await writeFile(
      own,
      JSON.stringify({ ...nodePort, routes: { own: route('own') }, ...(await storageSettings(folder)) }),
    );
    const killed = await start(config);
    killed.process.kill('SIGKILL');
    await killed.ended;
    const other = await start(own);
    const pids = [program.process.pid, other.process.pid];
    try {
      const shown: { route: string; pid: number }[] = JSON.parse((await command('routes', '--json')).stdout);
      const ofServer = (wanted?: number) =>
        shown.filter(({ pid }) => pid === wanted).map(({ route }) => route);
      expect(pids.map(ofServer)).toEqual([['notes', 'files'], ['own']]);
      expect((await command('routes')).stdout).toMatch(new RegExp(`^SERVER +ROUTE[^]*\\n${pids[1]} +own `));
      const done = await command('reload');
      expect(done.code).toBe(0);
      expect(done.stdout).toContain(`Process ${pids[1]}:\nkept: own\n`);
      expect(done.stdout).toContain(`Process ${pids[0]}:\nkept: notes, files\n`);

      await writeFile(own, '{ "routes": ');
      const refused = await command('reload', '--json');
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(
        `Nothing has changed in process ${pids[1]}: the settings cannot be used.`,
      );
      expect(refused.stderr).not.toContain(`${pids[0]}`);
      const { servers } = JSON.parse(refused.stdout) as { servers: { pid: number }[] };
      expect(servers).toHaveLength(2);
      expect(servers.find(({ pid }) => pid === pids[0])).toMatchObject({
        routes: { kept: ['notes', 'files'] },
      });
      expect(servers.find(({ pid }) => pid === pids[1])).toHaveProperty('problems');
    } finally {
      await other.stop();
    }
    expect((await readdir(folder)).filter((name) => name.startsWith('control'))).toHaveLength(1);
  });
});

describe('without a running server', () => {
  it('the commands say so, and how one is found', async () => {
    const other = await mkdtemp(join(tmpdir(), 'gatehouse-reload-'));
    await runGatehouse(['account', 'add', 'ada@example.com', '--password-stdin', '--data', other], {
      input: ada.password,
    });
    const { code, stderr } = await runGatehouse(['routes', '--data', other]);
    expect(code).toBe(6);
    expect(stderr).toContain('No server is running with the data folder');
    await rm(other, { recursive: true, force: true });
  });
});
