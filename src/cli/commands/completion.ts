import { Argument, type Command } from 'commander';
import { type CommandIo, processIo } from '../output.ts';
import { bashCompletion } from './completion-bash.ts';
import { completables } from './completion-candidates.ts';
import { fishCompletion } from './completion-fish.ts';
import { zshCompletion } from './completion-zsh.ts';

/** Shells that completion is written for. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** One of {@link shells}. */
export type Shell = (typeof shells)[number];

const writers = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/**
 * Writes the completion of a program for a shell, from its commands and options as they are.
 * @param program the command line
 * @param shell which shell reads it
 * @returns a script
 */
export function formatCompletion(program: Command, shell: Shell): string {
  return writers[shell](program.name(), completables(program));
}

/**
 * Adds `gatehouse completion`; the last command to be added, as it completes all others.
 * @param program the command line
 * @param io the surroundings
 */
export function registerCompletion(program: Command, io: CommandIo = processIo()): void {
  program
    .command('completion')
    .description('print the completion of this command line for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      `\nTo switch it on:\n  bash  eval "$(${program.name()} completion bash)"\n  zsh   source <(${program.name()} completion zsh)\n  fish  ${program.name()} completion fish | source`,
    )
    .action((shell: Shell) => void io.stdout.write(formatCompletion(program, shell)));
}
