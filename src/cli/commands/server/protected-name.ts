import { basename } from 'node:path';

/** Most characters of a name in the settings. */
const maxLength = 200;

/** A command that runs what one of its arguments names. */
interface Runner {
  commands: readonly string[];
  /** Its options that stand alone. */
  alone: readonly string[];
  /** Its options that take a value, as the next word or behind `=`. */
  valued: readonly string[];
}

/**
 * Options that are not among these end the search: what follows may be their value, and a secret, which must not become a
 * name that everybody sees.
 */
const runners: readonly Runner[] = [
  {
    commands: ['npx', 'bunx', 'pnpx', 'npm exec', 'npm x', 'pnpm dlx', 'pnpm exec', 'yarn dlx', 'bun x'],
    alone: ['--', '-y', '--yes', '-q', '--quiet', '--prefer-offline'],
    valued: ['-p', '--package'],
  },
  {
    commands: ['uvx', 'uv tool run', 'pipx run'],
    alone: ['-q', '--quiet', '--isolated', '--offline'],
    valued: ['--from', '--with', '--python'],
  },
  {
    commands: ['uv run'],
    alone: ['-q', '--quiet', '--isolated', '--offline', '--frozen', '--no-project'],
    valued: ['--directory', '--project', '--with', '--python', '--env-file'],
  },
  {
    commands: ['docker run', 'podman run'],
    alone: ['-i', '-t', '-it', '--interactive', '--tty', '--rm', '--init', '--read-only'],
    valued: ['-e', '--env', '--env-file', '-v', '--volume', '--mount', '--name', '--network', '-u', '--user'],
  },
  {
    commands: ['node', 'tsx', 'bun run', 'bun'],
    alone: ['--no-warnings', '--enable-source-maps', '--experimental-strip-types'],
    valued: ['--import', '-r', '--require', '--env-file', '--max-old-space-size'],
  },
  // What `-m` takes is what is run.
  {
    commands: ['python', 'python3'],
    alone: ['-m', '-u', '-B', '-I', '-E', '-s', '-O'],
    valued: ['-W', '-X'],
  },
];

/** What one of the arguments of a runner names; undefined where that is not certain. */
function firstOperand(words: readonly string[], { alone, valued }: Runner): string | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) return word.includes('://') ? undefined : word;
    if (valued.includes(word)) at++;
    else if (!alone.includes(word) && !valued.some((option) => word.startsWith(`${option}=`)))
      return undefined;
  }
  return undefined;
}

/** The name of a package, file or image, without its folder and its version. */
function bareName(operand: string): string {
  const name = operand.startsWith('@') ? operand : basename(operand);
  return /^(@?[^@:=]+)/.exec(name)?.[1] ?? name;
}

/**
 * What people call a server that nobody gave a name.
 * @param words the URL of the server, or its program and the arguments of that
 * @returns the host of a URL; else the package, file or image that is run, or the program
 */
export function protectedName([target = '', ...args]: readonly string[]): string {
  const url = /^https?:\/\//i.test(target) ? URL.parse(target) : null;
  if (url) return url.host.slice(0, maxLength);
  const words = [basename(target), ...args];
  for (const runner of runners)
    for (const command of runner.commands) {
      const { length } = command.split(' ');
      if (words.slice(0, length).join(' ') !== command) continue;
      const operand = firstOperand(words.slice(length), runner);
      return ((operand && bareName(operand)) || (words[0] ?? target)).slice(0, maxLength);
    }
  return (words[0] || target).slice(0, maxLength);
}
