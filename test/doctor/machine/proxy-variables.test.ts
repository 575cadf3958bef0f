import { describe, expect, it } from 'vitest';
import { isExempt, proxyVariablesCheck } from '../../../src/doctor/machine/proxy-variables.ts';
import { finding, testMachine } from './test-machine.ts';

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
