import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { browserCommand, readSurroundings, type Surroundings } from '../../client/node/browser.ts';
import type { Check } from '../check.ts';
import { pass, skip, warn } from '../judgements.ts';
import { isInstalled } from './installed-program.ts';
import type { Machine } from './machine.ts';

const names: Record<Exclude<Surroundings['place'], 'ci'>, string> = {
  codespaces: ' This is GitHub Codespaces.',
  ssh: ' This is an SSH session.',
  wsl: ' This is WSL.',
  container: ' This is a container.',
  local: '',
};

/** Places from which the browser of the person may not reach this machine's loopback. */
const elsewhere: readonly Surroundings['place'][] = ['codespaces', 'ssh', 'container'];

/**
 * Checks how a login from here reaches a browser. A machine without a browser is no fault, since other methods exist; a
 * configured browser that is missing is one.
 * @param machine the machine
 * @see RFC 8252 section 7.3; RFC 8628 section 1 (CL-6)
 */
export function browserCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-BROWSER',
    section: 'machine',
    title: 'A browser can be opened here, and can come back',
    clause: 'RFC 8252 section 7.3',
    async judge() {
      const { env, platform, root } = machine;
      const { place, browser } = readSurroundings(env, platform, (path) => existsSync(join(root, path)));
      if (place === 'ci')
        return skip(
          'Nobody sits at this machine: a login is one without a person (gatehouse login --grant client_credentials).',
        );
      const { command } = browserCommand('http://127.0.0.1/', platform, env);
      if (browser && !isInstalled(command, machine))
        return warn(
          `No browser can be opened: ${command} is not installed.${names[place]}`,
          `Install ${command}, or name a browser: BROWSER=/path/to/browser. Without one, open the printed address in any browser and paste the address it ends at, or use --device.`,
        );
      if (!browser)
        return skip(
          `There is no screen here.${names[place]} A login asks with a code for another device where the server offers that, else you paste the address at which a browser elsewhere ends.`,
        );
      if (elsewhere.includes(place))
        return skip(
          `${command} can be started, but the browser may be on another machine and not come back to this one.${names[place]} Then paste the address it ends at, or forward a port: ssh -L PORT:127.0.0.1:PORT with --callback-port PORT.`,
        );
      return pass(`${command} opens the browser, which comes back to 127.0.0.1.${names[place]}`);
    },
  };
}
