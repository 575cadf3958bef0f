import { openLoginAgent, readSurroundings } from '../../../client/node/index.ts';
import type { LoginMeans } from '../../../doctor/index.ts';
import { CliError } from '../../cli-error.ts';
import { type CommandIo, isTerminal } from '../../output.ts';
import { chooseLoginWay, type LoginWay, pasteTerminal, tellProgress } from '../mcp-client/login-person.ts';
import { openLogins } from '../mcp-client/stored-login.ts';
import type { DoctorCommandOptions } from './options.ts';

/** Returns how the user can log in; undefined if there is no user. */
function wayToUser(options: DoctorCommandOptions, io: CommandIo): LoginWay | undefined {
  try {
    return chooseLoginWay(options, readSurroundings(io.env), isTerminal(io.stdin));
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/**
 * Returns the means of logging in: the stored logins of the user, and with `--active` the user.
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
