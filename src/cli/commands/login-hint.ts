import { ClientError, type DiscoveredServer, type Fetch } from '../../client/index.ts';
import { loginCommand } from './client-failure.ts';
import { guessEndpoint } from './endpoint-guess.ts';

/** Failures of a URL where no MCP server is, or not one that wants a login. */
const wrongPlace = new Set<ClientError['reason']>([
  'not_protected',
  'no_metadata',
  'bad_metadata',
  'resource_mismatch',
  'server_error',
  'redirected',
]);

/**
 * Says what to try where a login failed: another URL, or scopes the server knows.
 * @param error what stopped it
 * @param url URL of the MCP server, as the user gave it
 * @param found what discovery found before
 * @param fetch how another URL is looked for
 * @returns a sentence, or undefined
 */
export async function hintAtLogin(
  error: unknown,
  url: string,
  found: DiscoveredServer | undefined,
  fetch: Fetch,
): Promise<string | undefined> {
  if (!(error instanceof ClientError)) return undefined;
  if (error.message.includes('"invalid_scope"')) {
    const known =
      found?.protectedResource?.scopes_supported ?? found?.authorizationServer.scopes_supported ?? [];
    if (known.length > 0) return `Scopes this server names: ${known.join(' ')}`;
  }
  if (found !== undefined || !wrongPlace.has(error.reason)) return undefined;
  const guess = await guessEndpoint(fetch, url);
  return guess === undefined ? undefined : `Did you mean ${guess}? ${loginCommand(guess)}`;
}
