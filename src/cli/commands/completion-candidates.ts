import type { Command, Option } from 'commander';

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
