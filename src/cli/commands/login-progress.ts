import type { DiscoveredServer } from '../../client/index.ts';
import { type LoginProgress, openBrowser, type Surroundings } from '../../client/node/index.ts';
import type { CommandIo } from '../output.ts';
import type { LoginWay } from './login-way.ts';

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
