import { describe, expect, it } from 'vitest';
import { readSurroundings } from '../../../src/client/node/surroundings.ts';

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
