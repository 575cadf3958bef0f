import { openLoginAgent, readSurroundings } from '../../../client/node/index.ts';
import type { LoginMeans } from '../../../doctor/login/login-means.ts';
import { CliError } from '../../cli-error.ts';
import { type CommandIo, isTerminal } from '../../output.ts';
import { chooseLoginWay, type LoginWay, pasteTerminal, tellProgress } from '../mcp-client/login-person.ts';
import { openLogins } from '../mcp-client/stored-login.ts';
import type { DoctorCommandOptions } from './options.ts';

/** How a person is reached; undefined where nobody is here. */
function wayToUser(options: DoctorCommandOptions, io: CommandIo): LoginWay | undefined {
  try {
    return chooseLoginWay(options, readSurroundings(io.env), isTerminal(io.stdin));
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/**
 * What an examination may use to log in: the user's kept logins to look at, and with `--active` the user themselves.
 * @param options what was given on the command line
 * @param io the surroundings
 * @param say writes one line to standard error
 * @param signal ends the waiting for the user
 */
export function doctorLogin(
  options: DoctorCommandOptions,
  io: CommandIo,
  say: (line: string) => void,
  signal?: AbortSignal,
): LoginMeans {
  const { clientId, clientMetadataUrl, clientName, otherResource, callbackPort } = options;
  const means: LoginMeans = {
    kept: openLogins(io, options.store),
    ...(clientId === undefined ? {} : { given: { clientId } }),
    ...(clientMetadataUrl === undefined ? {} : { clientIdMetadataUrl: clientMetadataUrl }),
    ...(clientName === undefined ? {} : { clientName }),
    ...(otherResource === undefined ? {} : { otherResource }),
  };
  const way = options.active ? wayToUser(options, io) : undefined;
  if (way === undefined) return means;
  const progress = tellProgress(way, readSurroundings(io.env).place, say, io);
  return {
    ...means,
    async withAgent(work) {
      const agent = await openLoginAgent(
        { fetch: io.fetch, now: io.now },
        {
          open: (url) => progress.open(url, agent.redirectUri),
          paste: way.paste ? pasteTerminal(io, say) : undefined,
          callbackPort,
          signal,
        },
      );
      try {
        return await work(agent);
      } finally {
        await agent.close();
      }
    },
  };
}
