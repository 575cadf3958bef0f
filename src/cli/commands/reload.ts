import type { Command } from 'commander';
import type { ReloadOutcome } from '../../index.ts';
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

/** Registers `gatehouse reload`. @param io its surroundings; those of the process by default */
export function registerReload(program: Command, io: CommandIo = processIo()): void {
  operatorCommand(
    program,
    'reload',
    'have the running server read its config file again: routes change at once, the rest at its next start',
  ).action(async (options: ReloadCommandOptions) => {
    const asked = await askServer(findDataFolder(options), { method: 'POST', path: '/reload' });
    const outcome = asked as ReloadOutcome;
    if (options.json) io.stdout.write(formatJson(outcome));
    if ('problems' in outcome)
      throw new CliError(
        `Nothing has changed: the settings cannot be used.\n${outcome.problems.map((problem) => `- ${problem}`).join('\n')}`,
        exitCodes.usage,
        'Mend the config file, and reload again; gatehouse check-config looks at it before.',
      );
    if (!options.json) io.stdout.write(`${describeReload(outcome)}\n`);
  });
}
