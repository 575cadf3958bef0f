import type { HostEntry } from './host-entry.ts';

/** Names whose values are secrets. */
const secretName = /authorization|cookie|secret|password|token|api[-_]?key/i;

/** A reference to a secret instead of the secret: `${TOKEN}`, `$TOKEN`, `{env:TOKEN}`, `{{token}}`. */
const placeholder = /\$\{?\w|\{env:|\{file:|\{\{|%\w+%/;

const isLiteral = (value: string): boolean => value.trim() !== '' && !placeholder.test(value);

/** @returns names of the headers of an entry that carry a secret in clear text */
export function secretHeaders({ headers }: HostEntry): string[] {
  return Object.entries(headers)
    .filter(([name, value]) => secretName.test(name) && isLiteral(value))
    .map(([name]) => name);
}

/** Returns the secret of an argument in clear text; undefined if it has none. */
function secretOf(argument: string, before: string | undefined): string | undefined {
  if (!isLiteral(argument)) return undefined;
  const pair = /^([\w-]+)\s*:\s*(.+)$/.exec(argument);
  if (/^(--header|-H)$/.test(before ?? '') && pair?.[1] && secretName.test(pair[1]))
    return `header ${pair[1]}`;
  if (/\bbearer\s+[\w.~+/-]{8,}/i.test(argument)) return 'a bearer token';
  if (/client_secret["']?\s*[:=]/.test(argument)) return 'client_secret';
  const flag = /^--([\w-]+)=(.+)$/.exec(argument);
  if (flag?.[1] && secretName.test(flag[1])) return `--${flag[1]}`;
  if (
    before?.startsWith('--') &&
    !before.includes('=') &&
    secretName.test(before) &&
    !argument.startsWith('-')
  )
    return before;
  const url = /^https?:\/\//.test(argument) ? URL.parse(argument) : null;
  return url === null ? undefined : secretInUrl(url);
}

function secretInUrl(url: URL): string | undefined {
  if (url.password !== '') return 'a password in the URL';
  const name = [...url.searchParams.keys()].find((key) => secretName.test(key));
  return name === undefined ? undefined : `${name} in the URL`;
}

/**
 * Finds secrets in the command line of an entry, which every user of the machine can list.
 * @returns what they are, never the values
 */
export function secretArguments({ args }: HostEntry): string[] {
  return args.flatMap((argument, at) => secretOf(argument, args[at - 1]) ?? []);
}
