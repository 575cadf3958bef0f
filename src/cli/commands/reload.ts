import type { Command } from 'commander';
import type { ReloadOutcome } from '../../index.ts';
import { SettingsRefused } from '../../settings/settings-refused.ts';
import { CliError } from '../cli-error.ts';
import { askServer } from '../control/ask-server.ts';
import { exitCodes } from '../exit-codes.ts';
import { findDataFolder, type InstallationOptions } from '../open-administration.ts';
import { operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, processIo } from '../output.ts';
import { describeReload } from '../reload-text.ts';

interface ReloadCommandOptions extends InstallationOptions {
  json?: boolean;
}

/** Has the running server read its file again. A file that does not say where that is cannot be used by it either. */
async function reload(options: InstallationOptions): Promise<{ outcome: ReloadOutcome; hint: string }> {
  const hint = 'Mend the config file, and reload again; gatehouse check-config looks at it before.';
  let folder: string;
  try {
    folder = findDataFolder(options);
  } catch (error) {
    const refused = [error, (error as Error).cause].find((one) => one instanceof SettingsRefused);
    if (!refused) throw error;
    return {
      outcome: { problems: refused.problems },
      hint: (error instanceof CliError && error.hint) || hint,
    };
  }
  const outcome = (await askServer(folder, { method: 'POST', path: '/reload' })) as ReloadOutcome;
  return { outcome, hint };
}

/** Registers `gatehouse reload`. @param io its surroundings; those of the process by default */
export function registerReload(program: Command, io: CommandIo = processIo()): void {
  operatorCommand(
    program,
    'reload',
    'have the running server read its config file again: routes change at once, the rest at its next start',
  ).action(async (options: ReloadCommandOptions) => {
    const { outcome, hint } = await reload(options);
    if (options.json) io.stdout.write(formatJson(outcome));
    if ('problems' in outcome)
      throw new CliError(
        `Nothing has changed: the settings cannot be used.\n${outcome.problems.map((problem) => `- ${problem}`).join('\n')}`,
        exitCodes.usage,
        hint,
      );
    if (!options.json) io.stdout.write(`${describeReload(outcome)}\n`);
  });
}
