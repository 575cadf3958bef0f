import { describe, expect, it } from 'vitest';
import { chooseLoginWay } from '../../../../src/cli/commands/mcp-client/login-person.ts';
import type { Surroundings } from '../../../../src/client/node/index.ts';

const desktop: Surroundings = { place: 'local', browser: true };
const ssh: Surroundings = { place: 'ssh', browser: false };
const ci: Surroundings = { place: 'ci', browser: false };

describe('a person is reached (CL-6)', () => {
  it.each([
    ['by the browser, and may paste, on a desktop', {}, desktop, true, [true, true, undefined]],
    ['by the browser, without a terminal', {}, desktop, false, [true, false, undefined]],
    ['by a code or a paste over SSH', {}, ssh, true, [false, true, 'where_offered']],
    ['by a code where that is asked for', { device: true }, desktop, true, [false, false, 'always']],
    ['by a code, in a pipeline too', { device: true }, ci, false, [false, false, 'always']],
    ['by a printed URL', { browser: false }, desktop, false, [false, false, undefined]],
    ['by a printed URL, in a pipeline too', { browser: false }, ci, false, [false, false, undefined]],
    ['by a printed URL and a paste', { browser: false }, desktop, true, [false, true, undefined]],
    ['by a paste, without a terminal', { paste: true }, ci, false, [false, true, undefined]],
    [
      'but not by a paste where standard input holds a secret',
      { clientSecretStdin: true },
      desktop,
      true,
      [true, false, undefined],
    ],
  ] as const)('%s', (_, options, surroundings, hasTerminal, [browser, paste, device]) => {
    expect(chooseLoginWay(options, surroundings, hasTerminal)).toEqual({ browser, paste, device });
  });
});

describe('nobody is waited for', () => {
  it.each([
    [ci, 'this is a pipeline'],
    [ssh, 'this is a session over SSH'],
    [{ place: 'container', browser: false }, 'this is a container'],
    [{ place: 'local', browser: false }, 'no display is set'],
  ] as const)('without browser and terminal: %j', (surroundings, why) => {
    expect(() => chooseLoginWay({}, surroundings, false)).toThrow(
      expect.objectContaining({ exitCode: 3, message: expect.stringContaining(why) }),
    );
  });
});
