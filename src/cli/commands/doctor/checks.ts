import {
  allChecks,
  type Check,
  chooseChecks,
  chooseProfiles,
  profileChecks,
  profiles,
  thisMachine,
  tokenAtHand,
} from '../../../doctor/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, programName } from '../../output.ts';
import type { DoctorCommandOptions } from './options.ts';

/**
 * Returns the known clients that `--as` names.
 * @throws CliError exit code 2 for an unknown client
 */
export function chosenClients({ as: names = [] }: DoctorCommandOptions): ReturnType<typeof chooseProfiles> {
  try {
    return chooseProfiles(names);
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(error.message, exitCodes.usage);
    throw error;
  }
}

/**
 * Returns the ids of the checks of this run: those of `--only`, or those of the clients of `--as`; undefined for all.
 * @throws CliError exit code 2 for an unknown client
 */
export function chosenIds(options: DoctorCommandOptions): readonly string[] | undefined {
  if (options.only !== undefined || options.as === undefined) return options.only;
  return profileChecks(chosenClients(options)).map(({ id }) => id);
}

/**
 * Returns the available checks of this run. Checks of the proxy and of clients are included only on request.
 * @param onWait called each second while a silent stream is watched
 */
export function checksOf(
  options: DoctorCommandOptions,
  io: CommandIo,
  onWait: (secondsLeft: number) => void,
): readonly Check[] {
  const wantsProxy = options.proxy || options.list || options.only?.some((id) => id.startsWith('PROXY-'));
  return allChecks({
    machine: thisMachine(io.env),
    callbackPort: options.callbackPort,
    clients: options.list || options.only ? profiles : chosenClients(options),
    proxy: wantsProxy
      ? {
          onWait,
          ...(options.idleSeconds === undefined ? {} : { idleSeconds: options.idleSeconds }),
          accessToken: async (subject) => {
            const token = await tokenAtHand(subject);
            return token.kind === 'held' ? token.accessToken : undefined;
          },
        }
      : undefined,
  });
}

/**
 * Returns the checks that will run: the selected ones, and those they depend on.
 * @param checks all of them
 * @param wanted ids
 * @throws CliError exit code 2 for ids that do not exist
 */
export function requireKnownIds(
  checks: readonly Check[],
  wanted: { only: readonly string[] | undefined; skip: readonly string[] | undefined },
): readonly Check[] {
  try {
    return chooseChecks(checks, wanted).running;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CliError(error.message, exitCodes.usage, `All checks: ${programName} doctor --list`);
  }
}
