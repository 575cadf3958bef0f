import { type Completable, choiceCases, quote, quotedPaths } from './completion-candidates.ts';

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
