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
    ['without a screen', { DISPLAY: '' }, 'no screen'],
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
    ['SSH', { SSH_CONNECTION: '10.0.0.1 5 10.0.0.2 22' }, 'an SSH session'],
    ['Codespaces', { CODESPACES: 'true' }, 'GitHub Codespaces'],
    ['continuous integration', { CI: 'true' }, 'continuous integration'],
  ])('warns in %s', async (_case, env, saw) => {
    const found = await finding(browserCheck(testMachine({ env })));
    expect(found).toMatchObject({ verdict: 'warn', saw: expect.stringContaining(saw) });
  });

  it('warns in a container', async () => {
    const machine = testMachine();
    put(machine.root, '.dockerenv', '');
    expect(await finding(browserCheck(machine))).toMatchObject({
      verdict: 'warn',
      saw: expect.stringContaining('a container'),
    });
  });
});
