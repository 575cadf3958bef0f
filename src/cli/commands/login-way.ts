import type { Surroundings } from '../../client/node/index.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { LoginCommandOptions } from './login-options.ts';

/** How a person is reached for a login. */
export interface LoginWay {
  /** Whether their browser is opened from here. */
  browser: boolean;
  /** Whether they can paste the answer of a browser elsewhere. */
  paste: boolean;
  device: 'always' | 'where_offered' | undefined;
}

/** What a machine without a person is called. */
const places: Readonly<Record<Surroundings['place'], string>> = {
  ci: 'this is a pipeline',
  codespaces: 'this is a codespace',
  ssh: 'this is a session over SSH',
  wsl: 'this is Linux on Windows',
  container: 'this is a container',
  local: 'no display is set',
};

/**
 * Chooses how a person is reached: by the browser of this machine; where none can be opened, by a code on another
 * device where the server offers that, else by pasting what a browser elsewhere ends at. Where nobody can be reached,
 * nobody is waited for.
 * @param options what was given on the command line
 * @param surroundings where this runs
 * @param hasTerminal whether a person can type here
 * @throws CliError exit code 3
 * @see RFC 8252; RFC 8628 (CL-6)
 */
export function chooseLoginWay(
  { browser: wanted, paste, device, clientSecretStdin }: LoginCommandOptions,
  surroundings: Surroundings,
  hasTerminal: boolean,
): LoginWay {
  const browser = wanted !== false && surroundings.browser;
  const isAsked = wanted === false || paste === true || device === true;
  if (!browser && !isAsked && !hasTerminal)
    throw new CliError(
      `Nobody can log in here: there is no browser to open (${places[surroundings.place]}) and no terminal to ask at.`,
      exitCodes.loginNeeded,
      [
        'For a machine as itself: --grant client_credentials, or --grant workload_identity',
        'With a code on another device: --device',
        'To print the URL and wait for somebody to open it: --no-browser',
      ].join('\n'),
    );
  const canPaste = (hasTerminal || paste === true) && clientSecretStdin !== true;
  if (device === true) return { browser: false, paste: false, device: 'always' };
  const byItself = !browser && !isAsked;
  return { browser, paste: canPaste, device: byItself ? 'where_offered' : undefined };
}
