import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { browserCommand } from '../../client/node/open-browser.ts';
import { readSurroundings, type Surroundings } from '../../client/node/surroundings.ts';
import type { Check } from '../check.ts';
import { isInstalled } from './installed-program.ts';
import type { Machine } from './machine.ts';

const names: Record<Surroundings['place'], string> = {
  ci: ' This is continuous integration.',
  codespaces: ' This is GitHub Codespaces.',
  ssh: ' This is an SSH session.',
  wsl: ' This is WSL.',
  container: ' This is a container.',
  local: '',
};

/** Places from which the browser of the person may not reach this machine's loopback. */
const elsewhere: readonly Surroundings['place'][] = ['codespaces', 'ssh', 'container'];

/**
 * Whether a browser can be opened, and which way a login will take where not.
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
        return {
          verdict: 'warn',
          saw: `Nobody sits at this machine.${names.ci}`,
          fix: 'Use a grant without a person: gatehouse login --grant client_credentials, or a login kept from before.',
        };
      const { command } = browserCommand('http://127.0.0.1/', platform, env);
      const installed = isInstalled(command, machine);
      if (!installed || !browser)
        return {
          verdict: 'warn',
          saw: `No browser can be opened: ${installed ? 'there is no screen' : `${command} is not installed`}.${names[place]}`,
          fix: 'Log in with --device where the server offers it, or open the printed address in any browser and paste the address it ends at. BROWSER=/path/to/browser names one.',
        };
      if (elsewhere.includes(place))
        return {
          verdict: 'warn',
          saw: `${command} can be started, but the browser may be on another machine and not come back to this one.${names[place]}`,
          fix: 'Paste the address the browser ends at, use --device, or forward the port: ssh -L PORT:127.0.0.1:PORT with --callback-port PORT.',
        };
      return {
        verdict: 'pass',
        saw: `${command} opens the browser, which comes back to 127.0.0.1.${names[place]}`,
      };
    },
  };
}
