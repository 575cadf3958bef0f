import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { browserCommand, readSurroundings } from '../../../src/client/node/browser.ts';
import { openBrowser } from '../../../src/client/node/index.ts';
import { testFolder } from '../support/folder.ts';

/** A program that writes down how it was called. */
function fakeBrowser(): { browser: string; seen: string } {
  const folder = testFolder();
  const seen = join(folder, 'seen');
  const browser = join(folder, 'my browser');
  writeFileSync(
    browser,
    `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${seen}.part' && mv '${seen}.part' '${seen}'\n`,
  );
  chmodSync(browser, 0o700);
  return { browser, seen };
}

describe('the program that opens a URL', () => {
  const url = 'https://as.example/authorize?a=1&b=$(calc)';

  it.each([
    ['linux', {}, 'xdg-open', [url]],
    ['darwin', {}, 'open', [url]],
    ['win32', {}, 'rundll32', ['url.dll,FileProtocolHandler', url]],
    ['linux', { WSL_DISTRO_NAME: 'Debian' }, 'rundll32.exe', ['url.dll,FileProtocolHandler', url]],
    ['linux', { BROWSER: '/usr/bin/lynx' }, '/usr/bin/lynx', [url]],
  ] as const)('on %s with %j is %s', (platform, env, command, args) => {
    expect(browserCommand(url, platform, env)).toEqual({ command, args });
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'https://x/"&calc&"',
    '--flag',
    'https://x/\n',
    'calculator:',
  ])('is not started with %j (T-182)', async (bad) => {
    const { browser, seen } = fakeBrowser();
    await expect(openBrowser(bad, { BROWSER: browser, PATH: process.env.PATH })).rejects.toMatchObject({
      reason: 'bad_url',
    });
    await sleep(50);
    expect(existsSync(seen)).toBe(false);
  });

  it('gets the URL as its one argument, and no shell reads it (T-182)', async () => {
    const { browser, seen } = fakeBrowser();
    expect(await openBrowser(url, { BROWSER: browser, PATH: process.env.PATH })).toBe(true);
    while (!existsSync(seen)) await sleep(10);
    expect(readFileSync(seen, 'utf8')).toBe(`1\n${url}\n`);
  });

  it('that does not exist is reported, not thrown', async () => {
    expect(await openBrowser(url, { BROWSER: '/nowhere/browser' })).toBe(false);
  });
});

describe('surroundings', () => {
  const nowhere = (): boolean => false;

  describe('a browser can be opened (CL-6)', () => {
    it.each([
      ['on a desktop', { DISPLAY: ':0' }, 'linux', { place: 'local', browser: true }],
      ['on Wayland', { WAYLAND_DISPLAY: 'wayland-0' }, 'linux', { place: 'local', browser: true }],
      ['on a Mac', {}, 'darwin', { place: 'local', browser: true }],
      ['on Windows', {}, 'win32', { place: 'local', browser: true }],
      ['under WSL', { WSL_DISTRO_NAME: 'Debian' }, 'linux', { place: 'wsl', browser: true }],
      [
        'over SSH with a forwarded display',
        { SSH_CONNECTION: 'x', DISPLAY: ':10' },
        'linux',
        { place: 'ssh', browser: true },
      ],
      [
        'in Codespaces, whose BROWSER opens it on the other side',
        { CODESPACES: 'true', BROWSER: '/vscode/browser.sh' },
        'linux',
        { place: 'codespaces', browser: true },
      ],
      [
        'in a pipeline that names one',
        { CI: 'true', BROWSER: '/bin/stub' },
        'linux',
        { place: 'ci', browser: true },
      ],
    ] as const)('%s', (_, env, platform, expected) => {
      expect(readSurroundings(env, platform, nowhere)).toEqual(expected);
    });
  });

  describe('no browser can be opened (CL-6)', () => {
    it.each([
      ['on a machine without a screen', {}, 'linux', 'local'],
      ['over SSH', { SSH_TTY: '/dev/pts/0' }, 'linux', 'ssh'],
      ['over SSH to a Mac', { SSH_CONNECTION: 'x' }, 'darwin', 'ssh'],
      ['in a pipeline, though it has a display', { CI: 'true', DISPLAY: ':0' }, 'linux', 'ci'],
      ['in a pod', { KUBERNETES_SERVICE_HOST: '10.0.0.1' }, 'linux', 'container'],
      ['where BROWSER says none', { BROWSER: 'none', DISPLAY: ':0' }, 'linux', 'local'],
    ] as const)('%s', (_, env, platform, place) => {
      expect(readSurroundings(env, platform, nowhere)).toEqual({ place, browser: false });
    });

    it('in a container, known by the file its runtime leaves', () => {
      expect(readSurroundings({}, 'linux', (path) => path === '/run/.containerenv').place).toBe('container');
    });

    it('and CI set to false is no pipeline', () => {
      expect(readSurroundings({ CI: 'false', DISPLAY: ':0' }, 'linux', nowhere)).toEqual({
        place: 'local',
        browser: true,
      });
    });
  });
});
