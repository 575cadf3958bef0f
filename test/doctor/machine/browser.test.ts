import { describe, expect, it } from 'vitest';
import { browserCheck } from '../../../src/doctor/machine/browser.ts';
import { finding, put, testMachine } from './test-machine.ts';

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
