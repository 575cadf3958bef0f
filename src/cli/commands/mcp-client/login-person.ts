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

/** The way in which a user logs in. */
export interface LoginWay {
  /** Opens the browser of this machine. */
  browser: boolean;
  /** Lets the user paste the redirect URL of a browser on another machine. */
  paste: boolean;
  device: 'always' | 'where_offered' | undefined;
}

/** Description of a place without a user, for the error message. */
const places: Readonly<Record<Surroundings['place'], string>> = {
  ci: 'this is a pipeline',
  codespaces: 'this is a codespace',
  ssh: 'this is a session over SSH',
  wsl: 'this is Linux on Windows',
  container: 'this is a container',
  local: 'no display is set',
};

/**
 * Chooses how the user logs in: with the browser of this machine; if none can be opened, with a code on another device, if
 * the server supports that, or by pasting the final URL of another browser. Fails at once if there is no user.
 * @param surroundings the machine and session this runs in
 * @param hasTerminal true if a user can type here
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
      `Nobody can log in here: there is no browser to open (${places[surroundings.place]}) and no terminal.`,
      exitCodes.loginNeeded,
      [
        'For a machine login: --grant client_credentials, or --grant workload_identity',
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

/** Describes the discovered authorization server to the user. */
export function describeIssuer({ authorizationServer, model }: DiscoveredServer): string {
  return `Authorization server: ${authorizationServer.issuer} (${models[model]})`;
}

/**
 * Tells the user what to do for a login, one line for each step.
 * @param way how the user logs in
 * @param place kind of machine this runs on
 * @param say writes one line to standard error
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
        say(`To let a browser on your machine reach this one: ssh -L ${port}:127.0.0.1:${port} <this host>`);
      }
      say('Waiting for the browser. If it runs on another machine, paste its final address here:');
    },
    showCode: ({ userCode, url, completeUrl, expiresAt }) => {
      const seconds = Math.round(expiresAt - io.now());
      const left = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
      say(`Open this URL on any device: ${url}`);
      say(`Enter this code there: ${userCode}`);
      if (completeUrl !== undefined) say(`Or open the URL with the code: ${completeUrl}`);
      say(`Waiting for the code to be entered; it expires in ${left}`);
    },
  };
}

/**
 * Returns the terminal in which the user can paste a URL.
 * @param say writes one line to standard error
 */
export function pasteTerminal({ stdin, stderr }: CommandIo, say: (line: string) => void): PasteTerminal {
  const shows = stderr instanceof Writable && isTerminal(stderr);
  return { input: stdin, output: shows ? stderr : undefined, isTerminal: isTerminal(stdin), say };
}
