import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../support/share.ts';
import { root } from './sources.ts';

const run = promisify(execFile);
const rootPath = fileURLToPath(root);
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-package-'));
const consumer = mkdtempSync(join(tmpdir(), 'gatehouse-consumer-'));

/** A user's shell, without what an outer `npm run` sets. npm reads its configuration beside the machine's own Node. */
const machine = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$|^NODE_ENV$|^VITEST/.test(name)),
  ),
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((entry) => !entry.endsWith('node_modules/.bin'))
    .join(delimiter),
};

/** The same shell where the project's Node stands first. */
const env = { ...machine, PATH: [join(rootPath, 'node_modules/.bin'), machine.PATH].join(delimiter) };

/** Starts the server through npx and waits for the line that says where it is. */
function serve(): Promise<{ server: ChildProcess; port: number }> {
  const server = spawn(
    'npx',
    ['mcp-gatehouse', 'serve', '--port', '0', '--data', join(consumer, 'data'), '--json'],
    {
      cwd: consumer,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  return new Promise((resolve, reject) => {
    let output = '';
    let log = '';
    server.stderr.on('data', (chunk: Buffer) => {
      log += chunk;
    });
    server.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
      const port = /"port":\s*(\d+)/.exec(output)?.[1];
      if (port !== undefined) resolve({ server, port: Number(port) });
    });
    server.once('exit', (code) =>
      reject(new Error(`The server ended with ${code} before it was ready: ${output}${log}`)),
    );
  });
}

/** Ends the process group of a server that `serve` started. */
async function stop(server: ChildProcess): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => server.once('exit', resolve));
  if (server.pid !== undefined) process.kill(-server.pid, 'SIGTERM');
  return ended;
}

/** Installs the package and what it depends on from the registry. */
async function install(tarball: string): Promise<void> {
  await run('npm', ['install', '--no-audit', '--no-fund', tarball], {
    cwd: consumer,
    env: machine,
    timeout: 240_000,
  });
}

/** Lays the package out as npm does, beside the dependencies that this repository has. */
async function unpack(tarball: string): Promise<void> {
  const modules = join(consumer, 'node_modules');
  const unpacked = join(modules, 'mcp-gatehouse');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  for (const name of readdirSync(join(rootPath, 'node_modules')).filter((one) => !one.startsWith('.')))
    symlinkSync(join(rootPath, 'node_modules', name), join(modules, name));
  await run('tar', ['-xzf', tarball, '-C', folder]);
  cpSync(join(folder, 'package'), unpacked, { recursive: true });
  symlinkSync(join(unpacked, 'bin/gatehouse.js'), join(modules, '.bin/mcp-gatehouse'));
  chmodSync(join(unpacked, 'bin/gatehouse.js'), 0o755);
  writeFileSync(join(consumer, 'package.json'), '{"private": true}');
}

describe('the package as a stranger gets it', () => {
  beforeAll(async () => {
    await run('npm', ['pack', '--pack-destination', folder], {
      cwd: rootPath,
      env: machine,
      timeout: 120_000,
    });
    const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    await (isLong ? install : unpack)(join(folder, tarball));
  }, 400_000);

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    rmSync(consumer, { recursive: true, force: true });
  });

  it('carries the program, its migrations and its papers, and neither sources nor tests', () => {
    const names = readdirSync(join(consumer, 'node_modules/mcp-gatehouse'));
    expect(names).toEqual(expect.arrayContaining(['bin', 'dist', 'migrations', 'CHANGELOG.md', 'LICENSE']));
    expect(names.filter((name) => ['src', 'test', 'scripts', 'node_modules', '.ci'].includes(name))).toEqual(
      [],
    );
  });

  it('has a client that loads no module of Node, and threads beside its other programs', () => {
    const dist = join(consumer, 'node_modules/mcp-gatehouse/dist');
    const loaded = new Set(['./client.js']);
    for (const file of loaded) {
      if (!file.startsWith('./')) continue;
      const code = readFileSync(join(dist, file), 'utf8');
      for (const [, to = ''] of code.matchAll(/^(?:import|export)\b[^;]*?"([^"]+)";$/gm)) loaded.add(to);
    }
    expect(loaded).toContain('oauth4webapi');
    expect([...loaded].filter((name) => name.startsWith('node:'))).toEqual([]);
    expect(readdirSync(dist)).toEqual(expect.arrayContaining(['argument-thread.js', 'call-thread.js']));
  });

  it('serves with one command: healthy, and an unknown client gets a page', async () => {
    const { server, port } = await serve();
    try {
      const health = await fetch(`http://127.0.0.1:${port}/healthz`);
      expect(health.status).toBe(200);
      const page = await fetch(`http://localhost:${port}/authorize?client_id=nobody&response_type=code`, {
        redirect: 'manual',
      });
      expect(page.status).toBe(400);
      expect(page.headers.get('content-type')).toContain('text/html');
      expect(await page.text()).toContain('<h1');
    } finally {
      await stop(server);
    }
  });

  it('says in one sentence that Node is too old, and ends with 2', async () => {
    const old =
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.11.9' } });";
    writeFileSync(join(consumer, 'old.cjs'), old);
    const program = join(consumer, 'node_modules/mcp-gatehouse/bin/gatehouse.js');
    const refusal = await run('node', ['--require', join(consumer, 'old.cjs'), program, '--version'], {
      env,
    }).catch((error: { code: number; stderr: string; stdout: string }) => error);
    expect(refusal).toMatchObject({ code: 2, stdout: '' });
    expect(refusal.stderr).toContain('needs Node.js 22.12 or later');
  });

  it('type-checks, with every entry point, in a strict project that checks its libraries too', async () => {
    const program = [
      "import { createGatehouse, type GatehouseOptions } from 'mcp-gatehouse';",
      ...['sqlite', 'postgres', 'resource-server', 'client', 'client/node'].map(
        (entry, at) => `export type * as entry${at} from 'mcp-gatehouse/${entry}';`,
      ),
      'export async function mcpUrl(options: GatehouseOptions): Promise<string> {',
      '  const gatehouse = await createGatehouse(options);',
      '  await gatehouse.close();',
      '  return gatehouse.mcpUrl;',
      '}',
    ];
    writeFileSync(join(consumer, 'main.mts'), program.join('\n'));
    const compilerOptions = {
      strict: true,
      module: 'nodenext',
      target: 'es2024',
      types: ['node'],
      // The dependencies of this repository, laid side by side, have types that no user installs together.
      skipLibCheck: !isLong,
      noEmit: true,
    };
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.mts'] }));
    const checked = await run('tsc', ['-p', consumer], { env }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    expect(checked.stdout).toBe('');
  }, 120_000);
});
