import { readFileSync } from 'node:fs';
import type { Fetch } from '../client/index.ts';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';

/** Headers that the protocol sets itself. */
const reserved = /^(?:host|connection|content-.*|transfer-encoding|accept|mcp-.*|last-event-id|dpop)$/i;

/** Headers whose values are secrets: they may not stand on a command line, which every process can read. */
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
 * Reads headers as they are given on the command line. Secrets come from the environment or from a file (T-191).
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
      refuse(`The value of the header ${name} is none that HTTP can carry.`);
    }
  }
  return headers;
}

/**
 * A fetch that adds headers to requests to one origin, and to no other (T-186).
 * @param fetch what requests go through
 * @param url URL of the server they are for
 * @param headers what to add
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
