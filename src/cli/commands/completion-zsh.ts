import { type Completable, choiceCases, quote, quotedPaths } from './completion-candidates.ts';

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
