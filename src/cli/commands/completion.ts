import { Argument, type Command, type Option } from 'commander';
import { type CommandIo, processIo } from '../output.ts';

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

/** A command with what can follow it. */
export interface Completable {
  /** Names from the program down, without the program's own. */
  path: string[];
  description: string;
  subcommands: { name: string; description: string }[];
  options: { long: string; description: string; takesValue: boolean; choices: readonly string[] }[];
}

function describeOption(option: Option): Completable['options'][number] {
  const { long, short, description, required, optional, argChoices = [] } = option;
  return { long: long ?? short ?? '', description, takesValue: required || optional, choices: argChoices };
}

/**
 * Lists a program's commands with what can follow them, itself first. Hidden options are not offered.
 * @param command the program
 * @param path names from the program down to it
 */
export function completables(command: Command, path: string[] = []): Completable[] {
  const help = command.createHelp();
  const visible = help.visibleCommands(command);
  const subcommands = visible.map((one) => ({ name: one.name(), description: one.description() }));
  const options = help.visibleOptions(command).map(describeOption);
  return [
    { path, description: command.description(), subcommands, options },
    ...command.commands.flatMap((one) => completables(one, [...path, one.name()])),
  ];
}

/** @returns the commands below the program, as their names in quotes */
export function quotedPaths(all: readonly Completable[]): string[] {
  return all.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(' ')));
}

/** @returns the choices of each option that has some: its name, and words */
export function choiceCases(all: readonly Completable[]): [string, string][] {
  const found = new Map<string, string>();
  for (const { options } of all)
    for (const { long, choices } of options) if (choices.length > 0) found.set(long, choices.join(' '));
  return [...found];
}

/** Quotes a text for a POSIX shell and for fish alike: both take single quotes, closed around an escaped one. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function words({ subcommands, options }: Completable): string {
  return [...subcommands.map(({ name }) => name), ...options.map(({ long }) => long)].join(' ');
}

/**
 * Writes the completion for bash.
 * @param program name of the program
 * @param all its commands, see `completables`
 */
export function bashCompletion(program: string, all: readonly Completable[]): string {
  const name = `_${program}_completion`;
  const withValue = new Set(
    all.flatMap(({ options }) => options.filter((one) => one.takesValue).map((one) => one.long)),
  );
  const cases = all.map((one) => `    ${quote(one.path.join(' '))}) words=${quote(words(one))} ;;`);
  const known = quotedPaths(all);
  const choices = choiceCases(all).map(
    ([long, list]) => `    ${long}) COMPREPLY=($(compgen -W ${quote(list)} -- "$current")); return ;;`,
  );
  return `# Completion of ${program} for bash: eval "$(${program} completion bash)"
${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' words='' at
  COMPREPLY=()
  case "$previous" in
${choices.join('\n')}
    ${[...withValue].join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${path:+$path }\${COMP_WORDS[at]}" in
      ${known.join('|')}) path="\${path:+$path }\${COMP_WORDS[at]}" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F ${name} ${program}
`;
}

/**
 * Writes the completion for zsh.
 * @param program name of the program
 * @param all its commands, see `completables`
 */
export function zshCompletion(program: string, all: readonly Completable[]): string {
  const name = `_${program}_completion`;
  const described = (text: string, about: string): string =>
    quote(`${text.replaceAll(':', '\\:')}:${about.replace(/\s+/g, ' ')}`);
  const cases = all.map(({ path, subcommands, options }) => {
    const list = [
      ...subcommands.map((one) => described(one.name, one.description)),
      ...options.map((one) => described(one.long, one.description)),
    ];
    return `    ${quote(path.join(' '))}) candidates=(${list.join(' ')}) ;;`;
  });
  const known = quotedPaths(all);
  const choices = choiceCases(all).map(([long, list]) => `    ${long}) compadd -- ${list}; return ;;`);
  return `#compdef ${program}
# Completion of ${program} for zsh: source <(${program} completion zsh)
${name}() {
  local at command_path=''
  local -a candidates
  case "\${words[CURRENT-1]}" in
${choices.join('\n')}
  esac
  for ((at = 2; at < CURRENT; at++)); do
    case "\${command_path:+$command_path }\${words[at]}" in
      ${known.join('|')}) command_path="\${command_path:+$command_path }\${words[at]}" ;;
    esac
  done
  case "$command_path" in
${cases.join('\n')}
  esac
  _describe '${program}' candidates
  _files
}
compdef ${name} ${program}
`;
}

/**
 * Writes the completion for fish.
 * @param program name of the program
 * @param all its commands, see `completables`
 */
export function fishCompletion(program: string, all: readonly Completable[]): string {
  const lines = all.flatMap(({ path, subcommands, options }) => {
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`);
    const names = subcommands.map(({ name }) => name).join(' ');
    const none = names === '' ? [] : [`not __fish_seen_subcommand_from ${names}`];
    const condition = (all: readonly string[]): string =>
      all.length === 0 ? '' : ` -n ${quote(all.join('; and '))}`;
    return [
      ...subcommands.map(
        ({ name, description }) =>
          `complete -c ${program} -f${condition([...seen, ...none])} -a ${quote(name)} -d ${quote(description)}`,
      ),
      ...options.map(({ long, description, takesValue, choices }) => {
        const value = choices.length > 0 ? ` -x -a ${quote(choices.join(' '))}` : takesValue ? ' -r' : '';
        return `complete -c ${program}${condition(seen.length > 0 ? seen : none)} -l ${quote(long.replace(/^--/, ''))}${value} -d ${quote(description)}`;
      }),
    ];
  });
  return `# Completion of ${program} for fish: ${program} completion fish | source\n${lines.join('\n')}\n`;
}
