import leven from 'leven';
import { describeDifference } from '../../../client/quote.ts';
import { type Check, fail, pass, skip, warn } from '../../check.ts';
import type { Subject } from '../../subject.ts';
import type { Machine } from '../machine.ts';
import { type HostEntry, type HostFile, readHosts } from './read-hosts.ts';

const nameOf = ({ host, name, file }: HostEntry): string => `${host}, "${name}" in ${file}`;

/** Removes query and user name, which may be secrets. */
function shown(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? url : `${parsed.origin}${parsed.pathname}`;
}

/**
 * Checks of the entries of the server in the configurations of hosts (Claude Desktop, Cursor, VS Code and others).
 * Values of headers, arguments and variables are never shown.
 */
export function hostChecks(machine: Machine): readonly Check[] {
  let read: Promise<HostFile[]> | undefined;
  const files = (): Promise<HostFile[]> => {
    read ??= readHosts(machine);
    return read;
  };
  const near = async ({ url }: Subject): Promise<HostEntry[]> =>
    (await files())
      .flatMap(({ entries }) => entries)
      .filter((entry) => entry.url !== undefined && compareUrls(url, entry.url) !== 'other');

  return [
    {
      id: 'MACHINE-HOST-CONFIG',
      section: 'machine',
      title: 'Hosts can read their configuration',
      clause: 'RFC 8259 section 2',
      async judge() {
        const found = await files();
        const broken = found.filter(({ fault }) => fault !== undefined);
        if (broken.length > 0)
          return fail(
            broken.map(({ host, file, fault }) => `${host} cannot use ${file}: ${fault}.`).join(' '),
            'Correct the file (a missing comma or quote, as a rule), then restart the host.',
          );
        if (found.length === 0) return skip('No configuration of a known host was found.');
        return pass(`Read: ${found.map(({ file }) => file).join(', ')}.`);
      },
    },
    {
      id: 'MACHINE-HOST-URL',
      section: 'machine',
      title: 'Hosts call the server by the same URL',
      clause: 'RFC 9728 section 3.3',
      async judge(subject) {
        const entries = await near(subject);
        if (entries.length === 0) return skip('No known host has this server in its configuration.');
        const other = entries.filter(({ url }) => url !== undefined && shown(url) !== shown(subject.url));
        if (other.length === 0) return pass(`${entries.map(nameOf).join('; ')} name this URL.`);
        return warn(
          other
            .map(
              (entry) =>
                `${nameOf(entry)}: ${describeDifference(shown(subject.url), shown(entry.url ?? ''))}.`,
            )
            .join(' '),
          'Write the URL that the server publishes as its "resource", byte for byte: tokens for one spelling are refused at the other.',
        );
      },
    },
    {
      id: 'MACHINE-HOST-HEADERS',
      section: 'machine',
      title: 'No header of a host stands in the way of its login',
      clause: 'RFC 6750 section 2.1',
      async judge(subject) {
        const entries = await near(subject);
        const shadowing = entries.filter(({ headers, args }) =>
          [...Object.keys(headers), ...args.map((argument) => argument.split(':')[0] ?? '')].some(
            (name) => name.trim().toLowerCase() === 'authorization',
          ),
        );
        if (entries.length === 0) return skip('No known host has this server.');
        if (shadowing.length === 0) return pass('No entry sets an Authorization header.');
        return warn(
          `${shadowing.map(nameOf).join('; ')} sets an Authorization header, so the host sends that and never logs in.`,
          'Remove the header and let the host log in. Keep it only where the server has no OAuth.',
        );
      },
    },
    {
      id: 'MACHINE-HOST-SECRETS',
      section: 'machine',
      title: 'No secret stands in a command line or a file that others read',
      clause: 'RFC 9700 section 4.14',
      async judge(subject) {
        const entries = await near(subject);
        if (entries.length === 0) return skip('No known host has this server.');
        const modes = new Map((await files()).map(({ file, mode }) => [file, mode]));
        const found = entries.flatMap((entry) => {
          const inArguments = secretArguments(entry).map(
            (what) => `${nameOf(entry)}: ${what}, an argument that every user can list`,
          );
          const open = machine.platform !== 'win32' && ((modes.get(entry.file) ?? 0) & 0o077) !== 0;
          const inFile = open
            ? secretHeaders(entry).map(
                (what) => `${nameOf(entry)}: header ${what}, in a file that others can read`,
              )
            : [];
          return [...inArguments, ...inFile];
        });
        if (found.length === 0) return pass('No entry holds a secret that others can see.');
        return warn(
          `${found.join('; ')}.`,
          'Remove it, let the host log in, and revoke the secret: it has been visible. Else name a variable of the environment instead, and chmod 600 the file.',
        );
      },
    },
  ];
}

/** Names of secret values. */
const secretName = /authorization|cookie|secret|password|token|api[-_]?key/i;

/** A reference to a secret instead of the secret: `${TOKEN}`, `$TOKEN`, `{env:TOKEN}`, `{{token}}`. */
const placeholder = /\$\{?\w|\{env:|\{file:|\{\{|%\w+%/;

const isLiteral = (value: string): boolean => value.trim() !== '' && !placeholder.test(value);

/** Returns the names of an entry's headers with a secret in clear text. */
export function secretHeaders({ headers }: HostEntry): string[] {
  return Object.entries(headers)
    .filter(([name, value]) => secretName.test(name) && isLiteral(value))
    .map(([name]) => name);
}

/** Returns the secret of an argument in clear text, or undefined. */
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
 * Describes secrets in the command line of an entry, which every user of the machine can read, without their values.
 */
export function secretArguments({ args }: HostEntry): string[] {
  return args.flatMap((argument, at) => secretOf(argument, args[at - 1]) ?? []);
}

/** Relation of an entry's URL to the examined one. */
type Nearness = 'same' | 'variant' | 'typo' | 'other';

function parts(url: string): { host: string; path: string; query: string } | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return undefined;
  const hostname = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(parsed.hostname) ? 'loopback' : parsed.hostname;
  return {
    host: `${hostname}:${parsed.port}`,
    path: parsed.pathname.replace(/\/+$/, ''),
    query: parsed.search,
  };
}

const withoutDigits = (text: string): string => text.replace(/\d+/g, '#');

/**
 * Returns the relation of two URLs. A `variant` differs in scheme, slash, case or name of loopback, which clients treat
 * differently; a `typo` differs in a letter or two. URLs that differ only in numbers are different servers.
 * @param examined examined URL
 * @param configured URL of an entry
 */
export function compareUrls(examined: string, configured: string): Nearness {
  if (examined === configured) return 'same';
  const [left, right] = [parts(examined), parts(configured)];
  if (left === undefined || right === undefined) return leven(examined, configured) <= 2 ? 'typo' : 'other';
  const [a, b] = [left, right].map(({ host, path }) => `${host}${path}`) as [string, string];
  if (a.toLowerCase() === b.toLowerCase()) return 'variant';
  if (withoutDigits(a) === withoutDigits(b)) return 'other';
  return leven(a, b) <= 2 ? 'typo' : 'other';
}
