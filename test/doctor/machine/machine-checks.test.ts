import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { examine } from '../../../src/doctor/examine.ts';
import {
  browserCheck,
  callbackPortCheck,
  isExempt,
  isInstalled,
  machineChecks,
  proxyVariablesCheck,
  runtimeCheck,
} from '../../../src/doctor/machine/machine-checks.ts';
import { finding, put, serverUrl, testMachine } from './test-machine.ts';

describe('checks of the machine', () => {
  it('have ids of their own that begin with MACHINE-', () => {
    const checks = machineChecks(testMachine());
    const ids = checks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^MACHINE-[A-Z-]+$/.test(id))).toEqual([]);
    expect(checks.every(({ section }) => section === 'machine')).toBe(true);
  });

  it('find nothing on a plain desktop, and ask the server nothing', async () => {
    const { findings, exchanges } = await examine({
      url: serverUrl,
      fetch: () => Promise.reject(new Error('not asked')),
      now: () => 1_800_000_000,
      checks: machineChecks(testMachine()),
    });
    expect(findings.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'skip')).toEqual([]);
    expect(exchanges).toEqual([]);
  });

  it('look at the callback port the user fixed', async () => {
    const { findings } = await examine({
      url: serverUrl,
      fetch: () => Promise.reject(new Error('not asked')),
      now: () => 1_800_000_000,
      checks: machineChecks(testMachine(), { callbackPort: 65_535 }),
      only: ['MACHINE-CALLBACK-PORT'],
    });
    expect(findings[0]?.saw).toContain('65535');
  });
});

describe('MACHINE-RUNTIME', () => {
  it.each([
    ['22.11.0', 'fail'],
    ['20.19.5', 'fail'],
    ['22.12.0', 'pass'],
    ['24.1.0', 'pass'],
  ])('judges Node.js %s: %s', async (nodeVersion, verdict) => {
    const found = await finding(runtimeCheck(testMachine({ nodeVersion })));
    expect(found).toMatchObject({ verdict, saw: expect.stringContaining(nodeVersion) });
  });

  it('asks for what package.json asks for', async () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
    const { fix } = await finding(runtimeCheck(testMachine({ nodeVersion: '18.0.0' })));
    expect(fix).toContain(engines.node.replace('>=', ''));
  });
});

describe('a program', () => {
  it('is looked for in each folder of PATH, and by its path', () => {
    const machine = testMachine();
    const tool = put(machine.home, 'tools/opener', '', 0o755);
    expect(isInstalled('xdg-open', machine)).toBe(true);
    expect(isInstalled('opener', machine)).toBe(false);
    expect(isInstalled(tool, machine)).toBe(true);
    const env = { PATH: `/nowhere:${join(machine.home, 'tools')}` };
    expect(isInstalled('opener', { ...machine, env })).toBe(true);
  });

  it('has an ending on Windows', () => {
    const machine = testMachine({ platform: 'win32' });
    put(machine.env.PATH ?? '', 'rundll32.exe', '');
    expect(isInstalled('rundll32', machine)).toBe(true);
  });
});

describe('MACHINE-BROWSER', () => {
  it('passes on a desktop', async () => {
    expect(await finding(browserCheck(testMachine()))).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('xdg-open'),
    });
  });

  it.each([
    ['without an opener', { PATH: '' }, 'xdg-open is not installed'],
    [
      'with a $BROWSER that is not there',
      { BROWSER: '/nowhere/firefox' },
      '/nowhere/firefox is not installed',
    ],
  ])('warns %s, and names the other ways (CL-6)', async (_case, env, saw) => {
    const found = await finding(browserCheck(testMachine({ env })));
    expect(found).toMatchObject({ verdict: 'warn', saw: expect.stringContaining(saw) });
    expect(found.fix).toContain('--device');
    expect(found.fix).toContain('paste');
  });

  it.each([
    ['without a screen', { DISPLAY: '' }, 'no screen', 'paste the address'],
    ['in SSH', { SSH_CONNECTION: '10.0.0.1 5 10.0.0.2 22' }, 'an SSH session', '--callback-port'],
    ['in Codespaces', { CODESPACES: 'true' }, 'GitHub Codespaces', 'paste the address'],
    ['in continuous integration', { CI: 'true' }, 'Nobody sits', '--grant client_credentials'],
  ])('is no fault %s: it says which way a login takes (CL-6)', async (_case, env, saw, way) => {
    const found = await finding(browserCheck(testMachine({ env })));
    expect(found).toMatchObject({ verdict: 'skip', saw: expect.stringContaining(saw) });
    expect(found.saw).toContain(way);
  });

  it('is no fault in a container', async () => {
    const machine = testMachine();
    put(machine.root, '.dockerenv', '');
    expect(await finding(browserCheck(machine))).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining('a container'),
    });
  });
});

describe('callback-port', () => {
  async function listen(host: string): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    onTestFinished(() => {
      server.close();
    });
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no address');
    return address.port;
  }

  describe('MACHINE-CALLBACK-PORT', () => {
    it('passes where any port will do', async () => {
      expect(await finding(callbackPortCheck())).toMatchObject({ verdict: 'pass' });
    });

    it('finds a fixed port that is taken, and who holds it (CL-4)', async () => {
      const port = await listen('127.0.0.1');
      const found = await finding(callbackPortCheck(port));
      expect(found.verdict).toBe('fail');
      expect(found.saw).toContain(`127.0.0.1 port ${port} is taken`);
      if (process.platform === 'linux') expect(found.saw).toContain(`(pid ${process.pid})`);
      expect(found.fix).toContain('--callback-port');
    });

    it('finds a port taken on ::1 only: a browser may go there instead (CL-7)', async (context) => {
      const port = await listen('::1').catch(() => undefined);
      if (port === undefined) return context.skip('this machine has no ::1');
      const found = await finding(callbackPortCheck(port));
      expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining(`::1 port ${port}`) });
    });

    it('finds a port this user may not listen on', async (context) => {
      if (process.getuid?.() === 0) return context.skip('root may listen on every port');
      const found = await finding(callbackPortCheck(1));
      expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('EACCES') });
    });
  });
});

describe('proxy-variables', () => {
  const proxy = 'http://user:pass@proxy.corp:3128';

  describe('MACHINE-PROXY-VARIABLES', () => {
    it('passes without a proxy', async () => {
      expect(await finding(proxyVariablesCheck(testMachine()))).toMatchObject({ verdict: 'pass' });
    });

    it('finds a proxy that Node.js does not use, and shows no password', async () => {
      const found = await finding(proxyVariablesCheck(testMachine({ env: { HTTPS_PROXY: proxy } })));
      expect(found.verdict).toBe('warn');
      expect(found.saw).toContain('HTTPS_PROXY=http://proxy.corp:3128');
      expect(found.fix).toContain('NODE_USE_ENV_PROXY=1');
      expect(JSON.stringify(found)).not.toContain('pass@');
    });

    it('passes where the server is exempt or on this machine', async () => {
      const exempt = testMachine({ env: { HTTPS_PROXY: proxy, NO_PROXY: '.example.com' } });
      expect(await finding(proxyVariablesCheck(exempt))).toMatchObject({ verdict: 'pass' });
      const machine = testMachine({ env: { HTTPS_PROXY: proxy } });
      expect(await finding(proxyVariablesCheck(machine), 'http://127.0.0.1:3000/mcp')).toMatchObject({
        verdict: 'pass',
      });
    });

    it('finds a proxy that loopback goes through', async () => {
      const env = { HTTP_PROXY: proxy, NODE_USE_ENV_PROXY: '1', NO_PROXY: 'localhost' };
      const found = await finding(proxyVariablesCheck(testMachine({ env })));
      expect(found.verdict).toBe('warn');
      expect(found.fix).toBe('export NO_PROXY=localhost,127.0.0.1,::1');
    });

    it('passes where loopback is left out', async () => {
      const env = { HTTP_PROXY: proxy, NO_PROXY: 'localhost,127.0.0.1,::1' };
      const found = await finding(proxyVariablesCheck(testMachine({ env, nodeFlags: ['--use-env-proxy'] })));
      expect(found.verdict).toBe('pass');
    });
  });

  describe('NO_PROXY', () => {
    it.each([
      ['a.example.com', 'example.com', true],
      ['a.example.com', '.example.com', true],
      ['a.example.com', '*.example.com', true],
      ['badexample.com', 'example.com', false],
      ['a.example.com', '*', true],
      ['::1', '[::1]', true],
      ['[::1]', '::1', true],
      ['example.com', 'example.com:8080', true],
      ['example.com', '', false],
    ])('for %s with %j: %s', (host, noProxy, exempt) => {
      expect(isExempt(host, noProxy)).toBe(exempt);
    });
  });
});
