import { allChecks } from '../../../doctor/all-checks.ts';
import type { Check } from '../../../doctor/check.ts';
import { chooseChecks } from '../../../doctor/choice.ts';
import { thisMachine } from '../../../doctor/machine/machine.ts';
import { profileChecks } from '../../../doctor/profiles/profile-checks.ts';
import { chooseProfiles, profiles } from '../../../doctor/profiles/profiles.ts';
import { tokenAtHand } from '../../../doctor/token/token-at-hand.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { programName } from '../../command-text.ts';
import type { CommandIo } from '../../output.ts';
import type { DoctorCommandOptions } from './options.ts';

/**
 * The known clients that `--as` names.
 * @param options what was given on the command line
 * @throws CliError exit code 2 for a client that nobody described
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
 * Ids of the checks of this run: those named, else those of the clients named; undefined for all.
 * @param options what was given on the command line
 * @throws CliError exit code 2 for a client that nobody described
 */
export function chosenIds(options: DoctorCommandOptions): readonly string[] | undefined {
  if (options.only !== undefined || options.as === undefined) return options.only;
  return profileChecks(chosenClients(options)).map(({ id }) => id);
}

/**
 * The checks there are for this run: without those of what stands in front, and of clients, unless they are asked for.
 * @param options what was given on the command line
 * @param io the surroundings
 * @param onWait told each second while a silent stream is watched
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
 * The checks that will run: those wanted, and what they need.
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
