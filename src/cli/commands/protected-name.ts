import { basename } from 'node:path';

/** Most characters of a name in the settings. */
const maxLength = 200;

/** Commands that run what one of their arguments names. */
const runners: readonly (readonly string[])[] = [
  ['npx'],
  ['bunx'],
  ['pnpx'],
  ['uvx'],
  ['npm', 'exec'],
  ['npm', 'x'],
  ['pnpm', 'dlx'],
  ['pnpm', 'exec'],
  ['yarn', 'dlx'],
  ['bun', 'x'],
  ['bun', 'run'],
  ['uv', 'tool', 'run'],
  ['uv', 'run'],
  ['pipx', 'run'],
  ['docker', 'run'],
  ['podman', 'run'],
  ['deno', 'run'],
  ['bun'],
  ['node'],
  ['python'],
  ['python3'],
  ['ruby'],
  ['tsx'],
];

/** Their options that take a value as a word of its own; `-m` of Python is none, as its value is what is run. */
const valued = new Set(
  '-p --package -c --call -r --require --import --loader --env-file -C -e --eval --from --with --python -v --volume --mount --name --network --env -u --user -w --workdir'.split(
    ' ',
  ),
);

/** What one of the arguments of a runner names. */
function firstOperand(words: readonly string[]): string | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) return word;
    if (valued.has(word)) at++;
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
  const runner = runners.find((prefix) => prefix.every((word, at) => words[at] === word));
  const operand = runner && firstOperand(words.slice(runner.length));
  return ((operand && bareName(operand)) || words[0] || target).slice(0, maxLength);
}
