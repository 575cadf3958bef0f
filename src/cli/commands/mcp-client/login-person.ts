import { Writable } from 'node:stream';
import type { DiscoveredServer } from '../../../client/index.ts';
import {
  type LoginProgress,
  openBrowser,
  type PasteTerminal,
  type Surroundings,
} from '../../../client/node/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, isTerminal } from '../../output.ts';
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

const models: Record<DiscoveredServer['model'], string> = {
  protected_resource: 'named by the metadata of the server',
  origin_metadata: 'found at the origin of the server',
  default_endpoints: 'assumed at the default paths of the server, which publishes no metadata',
};

const hows = {
  given: 'given',
  kept: 'kept',
  metadata_document: 'by its metadata document',
} as const;

/** What the user is told of the authorization server that was found. */
export function describeIssuer({ authorizationServer, model }: DiscoveredServer): string {
  return `Authorization server: ${authorizationServer.issuer} (${models[model]})`;
}

/**
 * Tells a person what a login needs of them, a line for each step.
 * @param way how they are reached
 * @param place where this runs
 * @param say writes one line to standard error
 * @param io the surroundings
 */
export function tellProgress(
  way: LoginWay,
  place: Surroundings['place'],
  say: (line: string) => void,
  io: CommandIo,
): LoginProgress {
  return {
    discovered: (found) => say(describeIssuer(found)),
    registered: (registration, how) =>
      say(how === 'new' ? 'Registered as a new client' : `Client: ${registration.clientId} (${hows[how]})`),
    open: async (url, redirectUri) => {
      say(`Open this URL: ${url}`);
      if (way.browser && !(await openBrowser(url, io.env)))
        say('No browser could be started. Open the URL yourself, on this machine.');
      if (!way.paste) return say('Waiting for the browser');
      if (place === 'ssh' && !way.browser) {
        const { port } = new URL(redirectUri);
        say(
          `To let a browser on your machine come back by itself: ssh -L ${port}:127.0.0.1:${port} <this host>`,
        );
      }
      say('Waiting for the browser. If it runs on another machine, paste the address it ends at here:');
    },
    showCode: ({ userCode, url, completeUrl, expiresAt }) => {
      const seconds = Math.round(expiresAt - io.now());
      const left = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
      say(`Open this URL on any device: ${url}`);
      say(`Enter this code there: ${userCode}`);
      if (completeUrl !== undefined) say(`Or open both in one: ${completeUrl}`);
      say(`Waiting for the code to be entered; it is good for ${left}`);
    },
  };
}

/**
 * Where the user of a command can paste.
 * @param io the surroundings
 * @param say writes one line to standard error
 */
export function pasteTerminal({ stdin, stderr }: CommandIo, say: (line: string) => void): PasteTerminal {
  const shows = stderr instanceof Writable && isTerminal(stderr);
  return { input: stdin, output: shows ? stderr : undefined, isTerminal: isTerminal(stdin), say };
}
