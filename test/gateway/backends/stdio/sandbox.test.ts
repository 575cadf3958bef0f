import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  checkLimits,
  checkSandbox,
  inSandbox,
  type ProcessLimits,
  type SandboxOptions,
  withLimits,
} from '../../../../src/gateway/backends/stdio/sandbox.ts';
import { testFolderForFile } from '../../../support/folder.ts';
import { startProgram } from './support/program.ts';

const folder = testFolderForFile();
const canSandbox = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status === 0;
const node = process.execPath;
const installed = [node];

/** Runs a script of Node in a sandbox; gives what it wrote, or how it ended. */
function run(script: string, options: SandboxOptions = {}, own?: string): string {
  const line = inSandbox({ command: node, args: ['-e', script] }, { readable: installed, ...options }, own);
  const { stdout, stderr, status } = spawnSync(line.command, line.args, {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, SECRET: 'x' },
  });
  return status === 0 ? stdout.trim() : `${status}: ${stderr}`;
}

describe.skipIf(!canSandbox)('a program in a sandbox', () => {
  it('reads the system and what is named, and nothing else of this machine (A12-07)', () => {
    const secret = join(folder, 'secret');
    writeFileSync(secret, 'of the gatehouse');
    const read = `try { console.log(require('fs').readFileSync(${JSON.stringify(secret)}, 'utf8')) } catch (e) { console.log(e.code) }`;
    expect(run(read)).toBe('ENOENT');
    expect(run(read, { readable: [...installed, secret] })).toBe('of the gatehouse');
    expect(
      run("console.log(require('fs').existsSync('/etc/shadow'), require('fs').existsSync('/usr/bin'))"),
    ).toBe('false true');
  });

  it('writes its own folder and a /tmp that ends with it, and nothing else', () => {
    const own = join(folder, 'own');
    mkdirSync(own);
    const write = (path: string): string =>
      run(
        `try { require('fs').writeFileSync(${JSON.stringify(path)}, 'x'); console.log('written') } catch (e) { console.log(e.code) }`,
        {},
        own,
      );
    expect(write(join(own, 'a'))).toBe('written');
    expect(readFileSync(join(own, 'a'), 'utf8')).toBe('x');
    expect(write('/tmp/of-a-sandbox')).toBe('written');
    expect(existsSync('/tmp/of-a-sandbox')).toBe(false);
    expect(write('/usr/a')).toBe('EROFS');
    expect(run('console.log(process.cwd())', {}, own)).toBe(own);
  });

  it('sees no process but its own', () => {
    expect(
      run("console.log(require('fs').readdirSync('/proc').filter((n) => /^\\d+$/.test(n)).length)"),
    ).toMatch(/^[12]$/);
  });

  it('reaches the network where it may only', async () => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    // The server of this very process answers only while nothing blocks it: the connection itself is enough.
    const reach = `const s = require('net').connect(${port}, '127.0.0.1'); s.on('connect', () => { console.log('reached'); process.exit() }).on('error', (e) => console.log(e.code))`;
    expect(run(reach)).toBe('ECONNREFUSED');
    expect(run(reach, { network: true })).toBe('reached');
  });

  it('has no capabilities', () => {
    expect(
      run(
        "console.log(/^CapEff:\\s*(\\w+)/m.exec(require('fs').readFileSync('/proc/self/status', 'utf8'))[1])",
      ),
    ).toBe('0000000000000000');
  });

  it.skipIf(process.getuid?.() !== 0)(
    'starts no more processes than allowed, where it is not root (T-155)',
    () => {
      const limited = withLimits(
        { command: 'sh', args: ['-c', 'for i in $(seq 30); do sleep 1 & done; echo all'] },
        { processes: 10 },
        true,
      );
      const { command, args } = inSandbox(limited, {});
      const { stdout, stderr } = spawnSync(
        'setpriv',
        ['--reuid', '65534', '--regid', '65534', '--clear-groups', command, ...args],
        { encoding: 'utf8' },
      );
      expect(stdout).not.toContain('all');
      expect(stderr).toMatch(/fork/i);
    },
  );

  it('is a server as any other, is ended with all it started, and works in its account’s folder', async () => {
    const { open, backend } = startProgram({
      sandbox: { readable: [node, join(dirname(import.meta.dirname), '../../support/backend')] },
      limits: { openFiles: 256 },
      accountFolders: join(folder, 'accounts'),
    });
    const [ann, bob] = [await open({ subject: 'ann' }), await open({ subject: 'bob' })];
    const [hers, his] = [await ann.tool('surroundings'), await bob.tool('surroundings')];
    expect(hers.folder).toMatch(/\/accounts\/[0-9a-f]{32}$/);
    expect(his.folder).not.toBe(hers.folder);
    expect(hers.env).toMatchObject({ HOME: hers.folder, TMPDIR: `${hers.folder}/tmp` });
    expect(await ann.tool('crash')).toMatchObject({ data: { reason: 'backend_ended' } });
    expect(await ann.tool('echo', { text: 'again' })).toHaveProperty('said', 'again');
    await Promise.all([ann.conversation.end(), bob.conversation.end()]);
    await vi.waitFor(() => expect(backend.status().processes).toBe(0));
  });
});

describe('a sandbox that cannot be', () => {
  it('is refused when the backend is made, with what to do', () => {
    const { PATH } = process.env;
    process.env.PATH = folder;
    try {
      expect(() => checkSandbox({})).toThrow(/bwrap\) is not installed. Install the package bubblewrap/);
    } finally {
      process.env.PATH = PATH;
    }
  });

  it('is refused where a path is not there that it may read, and advice is about that path alone', () => {
    const sentence =
      'sandbox: /nowhere/at/all in readable does not exist. Correct the path, or leave it out.';
    expect(() => checkSandbox({ readable: ['/', '/nowhere/at/all'] })).toThrow(new Error(sentence));
    expect(() => checkSandbox({ readable: ['/nowhere/a', '/nowhere/b'] })).toThrow(
      '/nowhere/a, /nowhere/b in readable do not exist',
    );
  });
});

describe('resource limits', () => {
  function run(limits: ProcessLimits, script: string, ...more: string[]) {
    const { command, args } = withLimits(
      { command: process.execPath, args: ['-e', script, '--', ...more] },
      limits,
    );
    const { status, signal, stdout } = spawnSync(command, args, { encoding: 'utf8' });
    return { status, signal, stdout };
  }

  describe('the limits of a program', () => {
    it('leave its arguments as they are, whatever a shell would make of them (T-152)', () => {
      const words = ['$HOME', '`id`', '; exit 3', '-c', '\'"', '*', ''];
      const { stdout } = run(
        { openFiles: 64 },
        'console.log(JSON.stringify(process.argv.slice(1)))',
        ...words,
      );
      expect(JSON.parse(stdout)).toEqual(words);
    });

    it('bound its memory, its processor time and its open files (T-155)', () => {
      const memory = 'const held = []; for (let i = 0; i < 300; i++) held.push(Buffer.alloc(1e7, 1))';
      expect(run({}, memory).status).toBe(0);
      expect(run({ memoryMegabytes: 1000 }, memory).status).not.toBe(0);
      expect(run({ cpuSeconds: 1 }, 'for (;;);').signal).toMatch(/SIGXCPU|SIGKILL/);
      const open =
        "let n = 0; try { for (; n < 500; n++) require('fs').openSync('/dev/null') } catch {} console.log(n)";
      expect(Number(run({ openFiles: 64 }, open).stdout)).toBeLessThan(64);
      expect(Number(run({}, open).stdout)).toBe(500);
    }, 120_000);

    it('are none without a shell where none are set', () => {
      expect(withLimits({ command: 'a', args: ['b'] }, {})).toEqual({ command: 'a', args: ['b'] });
    });

    it('that cannot be set are said so before anything is started', () => {
      expect(() => checkLimits({ openFiles: 64 })).not.toThrow();
      expect(() => checkLimits({ openFiles: 4_000_000_000 })).toThrow('this system cannot set them');
    });
  });
});
