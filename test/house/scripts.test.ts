import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from './sources.ts';

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

let clone: string;
let machine: string;

function program(path: string, body: string): void {
  writeFileSync(path, `#!/bin/bash\n${body}\n`);
  chmodSync(path, 0o755);
}

/** Runs a script of the clone on a machine that has only what `machine` holds. */
function script(name: string, args: string[] = [], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      '/bin/bash',
      [join(clone, 'scripts', name), ...args],
      { cwd: tmpdir(), env: { PATH: machine, ...env } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

/** A clone whose packages are installed; each tool in node_modules/.bin says its name and arguments. */
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'gatehouse-clone-'));
  machine = join(clone, 'machine');
  cpSync(fileURLToPath(new URL('scripts', root)), join(clone, 'scripts'), { recursive: true });
  mkdirSync(machine);
  for (const tool of ['bash', 'cat', 'cmp', 'cp', 'dirname', 'find', 'ln', 'rm', 'sort']) {
    const place = ['/usr/bin', '/bin'].find((folder) => existsSync(join(folder, tool))) ?? '/usr/bin';
    symlinkSync(join(place, tool), join(machine, tool));
  }
  for (const tool of ['nginx', 'apache2', 'haproxy', 'caddy', 'strace', 'faketime', 'pgbouncer'])
    program(join(machine, tool), '');
  mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true });
  writeFileSync(join(clone, 'package-lock.json'), '{}');
  writeFileSync(join(clone, 'node_modules/.installed-package-lock.json'), '{}');
  for (const tool of ['node', 'tsc', 'biome', 'vitest']) {
    program(join(clone, 'node_modules/.bin', tool), `echo "${tool} $*"`);
  }
  mkdirSync(join(clone, 'test/browser'), { recursive: true });
  writeFileSync(join(clone, 'test/browser/login.test.ts'), '');
});

afterEach(() => rmSync(clone, { recursive: true, force: true }));

describe('scripts/start and scripts/gatehouse', () => {
  it('hand their arguments to the program, and add nothing to its output', async () => {
    const main = join(clone, 'src/cli/main.ts');
    expect(await script('start', ['--port', '0'])).toEqual({
      code: 0,
      stdout: `node ${main} serve --port 0\n`,
      stderr: '',
    });
    expect((await script('gatehouse', ['call', 'a b'])).stdout).toBe(`node ${main} call a b\n`);
  });

  it('install again only when package-lock.json changed, and keep that off standard output', async () => {
    writeFileSync(join(clone, 'package-lock.json'), '{"changed":true}');
    mkdirSync(join(clone, 'node_modules/node'));
    program(join(clone, 'node_modules/.bin/node'), '[[ $1 == --version ]] && echo v24.0.0 || echo "node $*"');
    program(join(machine, 'node'), 'case "$*" in -p*split*) echo 18;; *) echo "$*";; esac');
    program(join(machine, 'npm'), 'echo "npm $*"');
    const own = join(clone, 'node_modules/node/bin');
    mkdirSync(own);
    program(join(own, 'node'), '[[ $1 == --version ]] && echo v24.0.0 || echo "own $1"');

    const first = await script('gatehouse', ['x']);
    expect(first).toMatchObject({ code: 0, stdout: `own ${join(clone, 'src/cli/main.ts')}\n` });
    expect(first.stderr).toContain('npm ci --ignore-scripts');
    expect(first.stderr).toContain('installArchSpecificPackage.js');
    expect((await script('gatehouse', ['x'])).stderr).toBe('');
  });

  it.each([
    ['npm is missing', 'echo 20', undefined, 'npm was not found'],
    ['Node is too old', 'echo 16', 'echo 8', 'too old to install with'],
    ['npm fails', 'echo 20', 'exit 1', 'npm ci failed'],
  ])('say what to do when %s', async (_case, node, npm, sentence) => {
    writeFileSync(join(clone, 'package-lock.json'), '{"changed":true}');
    program(join(machine, 'node'), node);
    if (npm !== undefined) program(join(machine, 'npm'), npm);
    const outcome = await script('start');
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain(sentence);
  });
});

describe('scripts/test', () => {
  it('checks types, then lint, then runs the tests with its arguments', async () => {
    program(join(machine, 'chromium'), '');
    const { code, stdout } = await script('test', ['test/oauth']);
    expect(stdout).toBe('tsc --noEmit\nbiome check .\nvitest run test/oauth\n');
    expect(code).toBe(0);
  });

  it('hands --clients to the runner of real programs, and runs no test', async () => {
    const { code, stdout } = await script('test', ['--clients', 'codex', '--json']);
    expect(stdout).toBe(`node ${join(clone, 'test/clients/main.ts')} codex --json\n`);
    expect(code).toBe(0);
  });

  it('describes itself with --help, and runs nothing', async () => {
    const { code, stdout } = await script('test', ['--help']);
    expect(stdout).toMatch(/^Type check, lint and tests: .*\n/);
    expect(stdout).toContain('scripts/test --clients [names] [options] takes the MCP clients');
    expect(stdout).not.toMatch(/^#|set -euo|vitest run test/m);
    expect(code).toBe(0);
  });

  it('ends with the names of the browser tests that did not run, and how to run them', async () => {
    const { code, stdout } = await script('test');
    expect(stdout).toMatch(/Not run.*\ntest\/browser\/login\.test\.ts\nTo run them, install Chromium.*\n$/);
    expect(code).toBe(0);
  });

  it('fails when a test fails, with or without a browser', async () => {
    program(join(clone, 'node_modules/.bin/vitest'), 'exit 3');
    expect((await script('test')).code).toBe(3);
  });

  it('fails in CI without a browser', async () => {
    const { code, stderr } = await script('test', [], { CI: 'true' });
    expect(code).toBe(1);
    expect(stderr).toContain('there is no Chromium');
  });

  it('names the tools that tests did without, and fails in CI', async () => {
    program(join(machine, 'chromium'), '');
    rmSync(join(machine, 'caddy'));
    const { code, stdout } = await script('test');
    expect([code, stdout.split('\n').at(-2)]).toEqual([0, expect.stringMatching(/^Skipped .*: caddy$/)]);
    expect(await script('test', [], { CI: 'true' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no caddy'),
    });
  });

  it('gives the browser to the tests, and refuses a CHROMIUM_PATH that is no program', async () => {
    program(join(machine, 'google-chrome'), '');
    program(join(clone, 'node_modules/.bin/vitest'), 'echo "$CHROMIUM_PATH"');
    expect((await script('test')).stdout).toContain(join(machine, 'google-chrome'));
    const wrong = await script('test', [], { CHROMIUM_PATH: '/nowhere/chromium' });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('/nowhere/chromium, which is not a program');
  });
});
