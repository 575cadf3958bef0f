import { type Completable, quote } from './completion-candidates.ts';

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
