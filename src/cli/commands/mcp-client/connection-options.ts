import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Fetch } from '../../../client/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';

/** Transports that can be chosen; without a choice they are tried in the order of the standard. */
const transportNames = ['http', 'sse', 'rest', 'stdio'] as const;

/** Options of the connection to a server, as commander parses them. */
export interface ConnectionOptions {
  transport?: (typeof transportNames)[number];
  /** See `readGivenHeaders`. */
  header?: string[];
  /** Seconds. */
  timeout?: number;
  trace?: boolean;
}

function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (!(seconds > 0 && seconds <= 86_400))
    throw new InvalidArgumentError('It must be a number of seconds, at most 86400.');
  return seconds;
}

function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}

/** `--header`, see `readGivenHeaders`. */
export const headerOption = [
  '--header <header>',
  `add a header: 'Name: env:VARIABLE' or 'Name: @file' (repeatable)`,
  collect,
] as const;

/** `--timeout`, see `requestOptions`. */
export const timeoutOption = [
  '--timeout <seconds>',
  'maximum wait for a response without progress (default: 60)',
  parseSeconds,
] as const;

/** `--max-time`, see `callTool`. */
export const maxTimeOption = [
  '--max-time <seconds>',
  'maximum time for the whole call, whatever its progress (default: none)',
  parseSeconds,
] as const;

/** `--trace`, see `withTrace`. */
export const traceOption = [
  '--trace',
  'print each HTTP exchange on standard error, as curl commands without secrets',
] as const;

/**
 * Adds the options of every command that connects to a server.
 * @param command the command
 * @returns the same command
 */
export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--transport <name>', 'use this transport; with stdio, <url> is a command line').choices(
        transportNames,
      ),
    )
    .option(...headerOption)
    .option(...timeoutOption)
    .option(...traceOption);
}

/**
 * Splits a command line at blanks; single and double quotes keep them. Nothing is expanded.
 * @param line as typed
 */
export function splitCommandLine(line: string): string[] {
  const words = line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g);
  return [...words].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_all, one = '', other = '') => one + other),
  );
}

/** Headers that the protocol sets. */
const reserved = /^(?:host|connection|content-.*|transfer-encoding|accept|mcp-.*|last-event-id|dpop)$/i;

/** Headers with secret values: they may not be arguments, because every process can read a command line. */
const secret = /authorization|cookie|token|secret|password|credential|key|signature/i;

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const example = `Write: --header 'X-Api-Key: env:MY_KEY' or 'X-Api-Key: @file'`;

function refuse(why: string): never {
  throw new CliError(why, exitCodes.usage, example);
}

function readValue(name: string, text: string, env: Readonly<Record<string, string | undefined>>): string {
  if (text.startsWith('env:'))
    return env[text.slice(4)] ?? refuse(`The environment has no variable ${text.slice(4)}.`);
  if (text.startsWith('@')) {
    try {
      return readFileSync(text.slice(1), 'utf8').trim();
    } catch {
      return refuse(`The file for the header ${name} cannot be read.`);
    }
  }
  if (secret.test(name))
    return refuse(
      `The value of the header ${name} is a secret, which every process could read from the command line.`,
    );
  return text;
}

/**
 * Reads the headers of the command line. Secrets come from the environment or from a file (T-191).
 * @param given `Name: value`, `Name: env:VARIABLE` or `Name: @file`
 * @param env environment variables
 * @throws CliError exit code 2
 */
export function readGivenHeaders(
  given: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Headers {
  const headers = new Headers();
  for (const one of given) {
    const [name = '', ...rest] = one.split(':');
    const text = rest.join(':').trim();
    if (!token.test(name) || text === '') refuse('A header has the form Name: value.');
    if (reserved.test(name)) refuse(`The header ${name} is set by the protocol.`);
    try {
      headers.append(name, readValue(name, text, env));
    } catch (error) {
      if (error instanceof CliError) throw error;
      refuse(`The value of the header ${name} is not valid in HTTP.`);
    }
  }
  return headers;
}

/**
 * Returns a fetch that adds headers to requests to one origin only (T-186).
 * @param fetch the wrapped fetch
 * @param url URL of the server they are for
 * @param headers headers to add
 */
export function withHeaders(fetch: Fetch, url: string, headers: Headers): Fetch {
  const { origin } = new URL(url);
  return (to, init = {}) => {
    if (URL.parse(String(to))?.origin !== origin) return fetch(to, init);
    const all = new Headers(init.headers);
    for (const [name, value] of headers) all.set(name, value);
    return fetch(to, { ...init, headers: all });
  };
}
